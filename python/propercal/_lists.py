"""Lists of the rows of the registry."""

from . import _registry


def list_metrics() -> "list[_registry.Row]":
    """The metrics, each with formula, options and source."""
    return _registry.rows("metrics")


def list_groups() -> "list[_registry.Row]":
    """Groups of metrics under one name; ``formula`` names the members."""
    return _registry.rows("groups")


def list_notions() -> "list[_registry.Row]":
    """Notions of calibration, from the strongest to the weakest."""
    return _registry.rows("notions")


def list_conventions() -> "list[_registry.Row]":
    """Binning rules of other packages."""
    return _registry.rows("conventions")


def list_calibrators() -> "list[_registry.Row]":
    """The calibrators, each with formula, options and source."""
    return _registry.rows("calibrators")


def list_studies() -> "list[_registry.Row]":
    """The experiments that ``study`` can run."""
    return _registry.rows("studies")


def list_figures() -> "list[_registry.Row]":
    """The figures."""
    return _registry.rows("figures")
