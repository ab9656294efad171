"""Replaces the parts of scikit-learn's base classes that the calibrators need, if it is not
installed."""

import inspect
from typing import Any


class BaseEstimator:
    """Parameters by the constructor's signature."""

    @classmethod
    def _get_param_names(cls) -> "list[str]":
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> "dict[str, Any]":
        """The parameters by name."""
        return {name: getattr(self, name) for name in self._get_param_names()}

    def set_params(self, **params: Any) -> Any:
        """Sets parameters by name."""
        for name, value in params.items():
            if name not in self._get_param_names():
                raise ValueError(f"{type(self).__name__} has no parameter {name}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value != defaults[name].default
        ]
        return f"{type(self).__name__}({', '.join(changed)})"


def validate_data(estimator: Any, X: Any, **how: Any) -> None:
    """Keeps nothing: names of columns are compared by scikit-learn alone."""
