"""A layer over a mapping: what is changed in it goes down whole, or not at all."""

import pytest

from tacit.agent.kernel.workspace import Layer


@pytest.mark.spec("A2ACP-072")
def test_a_layer_is_a_mapping_of_its_own_until_it_goes_down():
    below = {"a": 1, "b": 2}
    layer = Layer(below)
    layer["c"] = 3
    del layer["a"]
    assert (dict(layer), len(layer), below) == ({"b": 2, "c": 3}, 2, {"a": 1, "b": 2})
    for gone in ("a", "d"):
        assert gone not in layer
        with pytest.raises(KeyError):
            del layer[gone]
        with pytest.raises(KeyError):
            layer[gone]
    layer["a"] = 4
    layer.absorb()
    assert below == {"a": 4, "b": 2, "c": 3}
