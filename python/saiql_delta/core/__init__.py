"""Its modules: `loretoken_symbolic`."""
