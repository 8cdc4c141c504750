"""agent.toml: what is right, and what is said of what is not."""

from __future__ import annotations

import pytest

from wattline.live.agent.settings import read_settings
from wattline.live.transport.link import read_key
from wattline.model.errors import InputError

HEAD = 'cluster = "bed"\nnode = "n1"\norder_key = "order.key"\n'
BROKER = '[broker]\nhost = "h"\nca = "ca.crt"\ncertificate = "/etc/own.crt"\nkey = "own.key"\n'


def read(folder, text):
    file = folder / "agent.toml"
    file.write_text(text)
    return read_settings(file)


def test_files_are_relative_to_the_file_that_names_them(tmp_path):
    settings = read(tmp_path, HEAD + BROKER)
    assert settings.order_key == str(tmp_path / "order.key")
    assert (settings.broker.ca, settings.broker.certificate) == (str(tmp_path / "ca.crt"),
                                                                 "/etc/own.crt")
    assert settings.limits.knobs == ()


@pytest.mark.parametrize(("text", "said"), [
    (HEAD + BROKER + '[limits]\nknobs = ["a"]\n', "limits.safe is missing"),
    (HEAD + BROKER + '[limits]\nlow = "5kW"\nhigh = "4kW"\n', "limits.low .* is above"),
    (HEAD + BROKER + '[limits]\nsafe = "1W"\nlow = "2W"\n', "must lie from limits.low"),
    (HEAD + BROKER + '[limits]\nhihg = "4kW"\n', "hihg"),
    (HEAD.replace("n1", "n1/#") + BROKER, "node"),
    (HEAD.replace("bed", "+") + BROKER, "cluster"),
    (HEAD, "broker"),
])
def test_a_mistake_is_named_with_its_file(tmp_path, text, said):
    with pytest.raises(InputError, match=rf"agent\.toml: .*{said}"):
        read(tmp_path, text)


@pytest.mark.parametrize("text", ["", "abc", "00" * 31, "é" * 64])
def test_a_key_of_another_length_is_refused(tmp_path, text):
    (tmp_path / "order.key").write_text(text)
    with pytest.raises(InputError, match="64 hexadecimal digits"):
        read_key(str(tmp_path / "order.key"))
