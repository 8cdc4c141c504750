"""Views: any number of trees over the same entities, with typed, inherited properties.

A view answers one question about the machine: who feeds whom with power, who stands in which
rack, who is reached through which switch. See docs/views.md.
"""

from wattline.model.views.keys import Inherit, Key, KeyType
from wattline.model.views.tree import Entity, Tree
from wattline.model.views.view import Bound, BoundExceeded, MachineView

__all__ = ["Bound", "BoundExceeded", "Entity", "Inherit", "Key", "KeyType", "MachineView", "Tree"]
