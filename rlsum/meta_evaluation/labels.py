"""Short names for metrics in tables and pictures; the signatures keep everything."""

from __future__ import annotations

from collections.abc import Iterable

from rewards.specs import Spec, as_spec


def short_labels(labels: Iterable[str]) -> dict[str, str]:
    """Label -> label without the options that all metrics of its name share, as ``vectors`` of two ``sms``.

    Labels are specs, as `rewards.from_specs` makes them. One that would meet another stays as it is.
    """
    specs = {label: as_spec(label) for label in labels}
    short = {label: str(_without_shared(spec, specs.values())) for label, spec in specs.items()}
    names = list(short.values())
    return {label: name if names.count(name) == 1 else label for label, name in short.items()}


def _without_shared(spec: Spec, all_specs: Iterable[Spec]) -> Spec:
    same = [other.options for other in all_specs if other.name == spec.name]
    if len(same) == 1:
        return spec
    own = {key: value for key, value in spec.options.items() if any(other.get(key) != value for other in same)}
    return Spec(spec.name, own) if spec.name != "weighted" else spec
