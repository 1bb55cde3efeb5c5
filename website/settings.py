"""What griffe is told of settings: a field made by `setting` has a default, and says what it is."""

import ast

from griffe import Class, Docstring, ExprCall, Extension


class Settings(Extension):
    """Gives such a field the default as its value, and what it says as its docstring."""

    def on_class_members(self, *, cls: Class, **_: object) -> None:
        """Before a signature is made of the fields."""
        for field in cls.attributes.values():
            if isinstance(field.value, ExprCall) and str(field.value.function) == "setting":
                default, says = field.value.arguments[:2]
                field.value = default
                field.docstring = Docstring(ast.literal_eval(str(says)), parent=field)
