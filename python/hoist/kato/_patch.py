"""Puts the adapter into KATO's classes, and takes it out again."""

import functools
import importlib
from typing import Any, Callable, List, Optional, Tuple

from hoist.kato import _service
from hoist.kato._belief import Belief
from hoist.kato._settings import Settings

_replaced: List[Tuple[type, str, Any]] = []


def install(settings: Optional[Settings] = None) -> None:
    """Makes KATO's searcher use Hoist. settings: None takes those of the environment.

    ImportError where KATO is not importable. Called again it takes the new settings, and forgets
    the indexes.
    """
    settings = settings or Settings.from_environment()
    search: Any = importlib.import_module("kato.searches.pattern_search")
    processor: Any = importlib.import_module("kato.workers.pattern_processor")
    prediction: Any = importlib.import_module("kato.representations.prediction")
    redis: Any = importlib.import_module("kato.storage.redis_writer")
    uninstall()
    service = _service.current = _service.Service(settings)
    belief = Belief(service, prediction.Prediction, redis.RedisWriter)
    _wrap(search.PatternSearcher, "causalBeliefAsync", functools.partial(_belief_async, belief))
    _wrap(search.PatternSearcher, "causalBelief", functools.partial(_belief, belief))
    _wrap(search.PatternSearcher, "clearPatternsFromRAM", functools.partial(_clear, service))
    _wrap(search.PatternSearcher, "delete_pattern", functools.partial(_delete, service))
    _wrap(processor.PatternProcessor, "learn", functools.partial(_learn, service))
    _wrap(processor.PatternProcessor, "predictPattern", _predict)
    _wrap(processor.PatternProcessor, "finalize_training", functools.partial(_finalize, service))


def uninstall() -> None:
    """KATO is as it was."""
    while _replaced:
        owner, name, original = _replaced.pop()
        setattr(owner, name, original)
    _service.current = None


def installed() -> bool:
    return bool(_replaced)


def _wrap(owner: type, name: str, make: Callable[[Any], Any]) -> None:
    original = getattr(owner, name)
    _replaced.append((owner, name, original))
    setattr(owner, name, functools.wraps(original)(make(original)))


def _belief_async(belief: Belief, original: Any) -> Any:
    async def causalBeliefAsync(
        self: Any,
        state: List[str],
        target_class_candidates: Any = None,
        stm_events: Any = None,
        *rest: Any,
        **named: Any,
    ) -> Any:
        answer = belief.of(self, state, target_class_candidates, stm_events)
        if answer is not None:
            return answer
        return await original(self, state, target_class_candidates, stm_events, *rest, **named)

    return causalBeliefAsync


def _belief(belief: Belief, original: Any) -> Any:
    def causalBelief(
        self: Any, state: List[str], target_class_candidates: Any = None, stm_events: Any = None
    ) -> Any:
        answer = belief.of(self, state, target_class_candidates, stm_events)
        if answer is not None:
            return answer
        return original(self, state, target_class_candidates, stm_events)

    return causalBelief


def _clear(service: _service.Service, original: Any) -> Any:
    def clearPatternsFromRAM(self: Any) -> None:
        service.node(self.kb_id).forget()
        original(self)

    return clearPatternsFromRAM


def _delete(service: _service.Service, original: Any) -> Any:
    def delete_pattern(self: Any, name: str) -> Any:
        service.node(self.kb_id).remove(name)
        return original(self, name)

    return delete_pattern


def _learn(service: _service.Service, original: Any) -> Any:
    def learn(self: Any) -> Any:
        events = [list(event) for event in self.STM]
        name = original(self)
        if name:
            try:
                service.node(self.kb_id).add(name.split("|")[-1], events)
            except Exception as error:  # KATO has learned it: that stands
                service.fell_back(error, "learn")
                service.node(self.kb_id).forget()
        return name

    return learn


def _predict(original: Any) -> Any:
    async def predictPattern(self: Any, *arguments: Any, **named: Any) -> Any:
        # KATO prunes to three times as many, by the key by which an index does.
        self.patterns_searcher.hoist_best = self.max_predictions
        return await original(self, *arguments, **named)

    return predictPattern


def _finalize(service: _service.Service, original: Any) -> Any:
    async def finalize_training(self: Any) -> Any:
        result = await original(self)
        try:
            service.node(self.kb_id).sync()
        except Exception as error:
            service.fell_back(error, "sync")
        return result

    return finalize_training
