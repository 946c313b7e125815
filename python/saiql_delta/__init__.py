"""Records as symbolic lines: `saiql_delta.core.loretoken_symbolic`."""
