"""The candidates of a state as KATO's searcher gives them, from an index's records."""

import logging
from itertools import chain
from typing import Any, Dict, List, Optional, Sequence

from hoist.kato._service import Service

logger = logging.getLogger("hoist.kato")


class Belief:
    """prediction_type: KATO's Prediction. metadata_reader: its RedisWriter, from which frequencies
    and emotives come."""

    def __init__(self, service: Service, prediction_type: Any, metadata_reader: Any):
        self._service = service
        self._prediction_type = prediction_type
        self._metadata_reader = metadata_reader

    def of(
        self, searcher: Any, state: Sequence[str], targets: Any, events: Any
    ) -> Optional[List[Any]]:
        """Predictions as of causalBelief; None leaves it to KATO."""
        service = self._service
        if not service.settings.wants(searcher.kb_id, searcher.session_config):
            service.leave("switched off")
            return None
        reason = why_not(searcher, state, targets, events)
        if reason:
            service.leave(reason)
            return None
        try:
            return self._predictions(searcher, state, [list(event) for event in events])
        except Exception as error:
            service.fell_back(error, "predict")
            return None

    def _predictions(
        self, searcher: Any, state: Sequence[str], events: List[List[str]]
    ) -> List[Any]:
        records = self._service.predict(
            searcher.kb_id,
            searcher.clickhouse_client,
            events,
            searcher.recall_threshold,
            getattr(searcher.session_config, "fuzzy_token_threshold", None) or 0.0,
            getattr(searcher, "hoist_best", None),
        )
        known: Dict[str, Any] = {}
        if searcher.redis_client:
            reader = self._metadata_reader(searcher.kb_id, searcher.redis_client)
            known = reader.get_metadata_batch([record["name"] for record in records])
        weights = searcher.affinity_weights
        return [
            self._prediction(record, known.get(record["name"], {}), state, weights)
            for record in records
        ]

    def _prediction(
        self,
        record: Dict[str, Any],
        known: Dict[str, Any],
        state: Sequence[str],
        weights: Optional[Dict[str, float]],
    ) -> Any:
        """What is ranked and weighed over all predictions, KATO fills in afterwards."""
        prediction = self._prediction_type.__new__(self._prediction_type)
        prediction.update(
            type="prototypical",
            name=record["name"],
            frequency=known.get("frequency", 1) or 1,  # 0: lost with Redis, never unlearned
            emotives=known.get("emotives", {}),
            matches=record["matches"],
            past=record["past"],
            present=record["present"],
            missing=record["missing"],
            extras=record["extras"],
            anomalies=record["anomalies"],
            potential=0.0,
            evidence=record["evidence"],
            similarity=record["similarity"],
            fragmentation=float(record["fragmentation"]),
            snr=record["snr"],
            confluence=0.0,
            predictive_information=0.0,
            sequence=record["sequence"],
            pattern_data=record["sequence"],
            future=record["future"],
            confidence=record["confidence"],
            weighted_similarity=weighted_similarity(record, state, weights),
            weighted_evidence=None,
            weighted_confidence=None,
            weighted_snr=None,
        )
        prediction.present = record["present"]
        return prediction


def why_not(searcher: Any, state: Sequence[str], targets: Any, events: Any) -> Optional[str]:
    """Why KATO's own code makes this prediction."""
    if targets:
        return "target candidates"
    if getattr(searcher.session_config, "filter_pipeline", None):
        return "filter pipeline"
    if not searcher.use_token_matching:
        return "character matching"
    if not searcher.use_fast_matching:
        return "KATO_USE_FAST_MATCHING is off"
    if not events or list(chain.from_iterable(events)) != list(state):
        return "no events"
    if not all(events) or len(state) < 2:
        return "empty events or one symbol"
    if "" in state or any("\0" == symbol for symbol in state):
        return "an empty symbol"  # which RapidFuzz takes for U+0000
    return None


def weighted_similarity(
    record: Dict[str, Any], state: Sequence[str], weights: Optional[Dict[str, float]]
) -> Optional[float]:
    """As KATO sums it: symbols that the state has not weigh nothing."""
    if not weights:
        return None
    matched, of_state, of_pattern = (
        sum(weights.get(symbol, 0.0) for symbol in symbols)
        for symbols in (record["matches"], state, chain.from_iterable(record["sequence"]))
    )
    both = of_state + of_pattern
    return (2.0 * matched / both) if both > 0 else None
