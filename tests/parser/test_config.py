"""Settings: what they may be, what they stand for, and TOML files of them."""

from dataclasses import fields, replace
from pathlib import Path

import pytest

from treecrf.parser import ParserError
from treecrf.parser.config import ARCHITECTURE, Config
from treecrf.parser.presets import PRESETS, load_config

CHANGED = Config(
    loss="local",
    decoder="mst",
    nonprojective="mst",
    encoding="path",
    multiroot=True,
    encoder="transformer",
    transformer='C:\\models\\"my" bért\t',
    lstm_layers=0,
    schedule="linear",
    tags="xpos",
    min_freq=7,
    lowercase=False,
    learning_rate=1e-5,
    epsilon=1e-30,
    average=0.0,
    clip=1e300,
    seed=12345,
)


@pytest.mark.parametrize("config", [*PRESETS.values(), CHANGED], ids=[*PRESETS, "changed"])
def test_a_file_holds_every_setting(config: Config, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(config.to_toml(), encoding="utf-8")
    assert load_config(path) == config
    assert Config().changed(config.to_dict()) == config
    for setting in fields(Config):
        assert f"{setting.name} = " in config.to_toml()


def test_a_file_may_leave_settings_out(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('loss = "crf"  # the first order\nlstm_size = 200\n')
    assert load_config(path) == Config(loss="crf", lstm_size=200)
    assert load_config(str(path)) == load_config(path)


def test_a_file_of_an_older_version_has_settings_by_their_old_names(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('products = "int8"\n')
    assert load_config(path) == Config(precision="int8")
    with pytest.raises(ParserError, match="there is no setting 'products'"):
        load_config(path, {"products": "float32"})


def test_names_are_presets() -> None:
    assert load_config("tiny") is PRESETS["tiny"]
    assert load_config("default") == Config()


def test_the_preset_of_the_paper_has_its_dropout(tmp_path: Path) -> None:
    paper, default = load_config("paper"), load_config("default")
    assert paper.lstm_input_dropout == paper.encoder_dropout
    assert paper.recurrent_dropout_mask == "sentence"
    assert (default.lstm_input_dropout, default.recurrent_dropout_mask) == (0.0, "batch")
    old = "".join(
        line
        for line in default.to_toml().splitlines(keepends=True)
        if not line.startswith(("lstm_input_dropout", "recurrent_dropout_mask"))
    )
    (tmp_path / "config.toml").write_text(old, encoding="utf-8")
    assert load_config(tmp_path / "config.toml") == default


def test_a_file_that_is_not_there_may_have_been_a_preset(tmp_path: Path) -> None:
    with pytest.raises(ParserError, match=r"huge: no such file, and no preset .*default, tiny"):
        load_config("huge")
    with pytest.raises(ParserError, match="not a TOML file that can be read"):
        load_config(tmp_path)


def test_settings_are_checked_once_all_are_there(tmp_path: Path) -> None:
    path = tmp_path / "transformer.toml"
    path.write_text('encoder = "transformer"\nlstm_layers = 0\n')
    with pytest.raises(ParserError, match=r"transformer\.toml: .* none is named"):
        load_config(path)
    assert load_config(path, {"transformer": "bert"}).transformer == "bert"
    base = Config(encoder="transformer", transformer="bert", arc_size=7)
    assert load_config(path, base=base) == replace(base, lstm_layers=0)
    path.write_text("char_size = 7\n")
    assert load_config(path, {"char_size": 8}).char_size == 8
    with pytest.raises(ParserError, match=r"^char_size is 9: half of it"):
        load_config(path, {"char_size": 9})


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"loss = crf", "not a TOML file that can be read"),
        (b'loss = "\xff"', "not a TOML file that can be read"),
        (b'los = "crf"', "there is no setting 'los'; did you mean loss?"),
        (b"[train]\nepochs = 3", "there is no setting 'train'"),
        (b"[epochs]\nmost = 3", "epochs is {'most': 3}; it is a whole number"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_with_its_name(
    content: bytes, problem: str, tmp_path: Path
) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(content)
    with pytest.raises(ParserError) as caught:
        load_config(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ("loss=crf4o", "loss is 'crf4o'; it is one of: local, crf, crf2o, crf3o, nonprojective"),
        ("loss=1", "loss is 1; it is one of: local, crf, crf2o, crf3o, nonprojective"),
        ("loss=[1, 2]", "loss is [1, 2]; it is one of: local, crf, crf2o, crf3o, nonprojective"),
        ("epochs=many", "epochs is 'many'; it is a whole number"),
        ("epochs=2.0", "epochs is 2.0; it is a whole number"),
        ("epochs=true", "epochs is True; it is a whole number"),
        ("epochs=-1", "epochs is -1; it is at least 0"),
        ("temperature=1e308", "temperature is 1e+308; it is from 0.001 to 1e+06"),
        ("multiroot=1", "multiroot is 1; it is true or false"),
        ("multiroot=True", "multiroot is 'True'; it is true or false"),
        ("clip=false", "clip is False; it is a finite number"),
        ("clip=nan", "clip is nan; it is a finite number"),
        ("clip=inf", "clip is inf; it is a finite number"),
        ("arc_size=99999999999999999999", "arc_size is 99999999999999999999; that is too large"),
        ("lstm_layers=10000000", "lstm_layers is 10000000; it is from 0 to below 1001"),
        ("mlp_dropout=1", "mlp_dropout is 1.0; it is from 0 to below 1"),
        ("mlp_dropout=-0.1", "mlp_dropout is -0.1; it is from 0 to below 1"),
        ("max_chars=1", "max_chars is 1; it is from 2 to below 1001"),
        ("lstm_layers=0", "lstm_layers is 0; only over a transformer there may be none"),
        (
            "encoder=transformer",
            "the encoder is a transformer and none is named: --set transformer=FOLDER_OR_NAME",
        ),
        ("transformer=3", "transformer is 3; it is text"),
        ("char_size=7", "char_size is 7: half of it is each direction's, so it must be even"),
        ("seed=1000000000000", "seed is 1000000000000; it is from 0 to below 1e+12"),
        ("epoch=3", "there is no setting 'epoch'; did you mean epochs?"),
        ("EPOCHS=3", "there is no setting 'EPOCHS'; did you mean epochs?"),
        ("lstm_sise=3", "there is no setting 'lstm_sise'; did you mean lstm_size?"),
        ("zzzz=3", "there is no setting 'zzzz'"),
        ("epochs", "'epochs' is not a setting: write key=value, such as epochs=10"),
        ("=3", "there is no setting ''"),
    ],
)
def test_a_wrong_setting_names_the_key_and_what_is_allowed(setting: str, problem: str) -> None:
    with pytest.raises(ParserError) as caught:
        Config().changed(Config.parsed([setting]))
    assert str(caught.value) == problem


def test_settings_as_text() -> None:
    changed = Config().changed(
        Config.parsed(["loss=crf", "epochs=3", ' tags = "upos" ', "clip=1", "clip=2e0"])
    )
    assert changed == replace(Config(), loss="crf", epochs=3, tags="upos", clip=2.0)
    assert isinstance(changed.clip, float)
    assert Config().changed(Config.parsed([])) == Config()
    assert list(Config.parsed(["clip=.5", "decay=1.", "epsilon=.1e-3"]).values()) == [0.5, 1, 1e-4]
    assert (
        Config().changed(Config.parsed(["transformer=models/bert=2 base"])).transformer
        == "models/bert=2 base"
    )
    assert Config(clip=1).clip == 1.0  # a whole number is a number
    assert (
        Config().changed(Config.parsed(["encoding=head+path", "multiroot=true"])).multiroot is True
    )


def test_a_config_does_not_change() -> None:
    config = Config()
    with pytest.raises(AttributeError):
        config.epochs = 3  # type: ignore[misc]
    config.changed({"epochs": 3})
    assert config == Config()


# loss, nonprojective: the decoder, whether arcs are lifted, whether trees may cross
RESOLVED = {
    ("local", "pseudo"): ("viterbi", True, False),
    ("local", "mst"): ("mst", False, True),
    ("local", "none"): ("viterbi", False, False),
    ("crf", "pseudo"): ("mbr", True, False),
    ("crf", "mst"): ("mst", False, True),
    ("crf", "none"): ("mbr", False, False),
    ("crf2o", "pseudo"): ("mbr", True, False),
    ("crf2o", "mst"): ("mst", False, True),
    ("crf2o", "none"): ("mbr", False, False),
    ("crf3o", "pseudo"): ("mbr", True, False),
    ("crf3o", "mst"): ("mst", False, True),
    ("crf3o", "none"): ("mbr", False, False),
    ("nonprojective", "pseudo"): ("mbr", False, True),
    ("nonprojective", "mst"): ("mbr", False, True),
    ("nonprojective", "none"): ("mbr", False, True),
}


@pytest.mark.parametrize(("loss", "nonprojective"), RESOLVED)
def test_what_auto_stands_for(loss: str, nonprojective: str) -> None:
    config = Config().changed({"loss": loss, "nonprojective": nonprojective})
    found = (config.resolved_decoder, config.pseudo, config.crossing)
    assert found == RESOLVED[loss, nonprojective]
    assert config.learns_projective == loss.startswith("crf")
    for decoder in ("mbr", "viterbi", "mst"):
        chosen = config.changed({"decoder": decoder})
        assert chosen.resolved_decoder == decoder
        assert chosen.crossing == (decoder == "mst" or loss == "nonprojective")
        assert chosen.pseudo == config.pseudo


def test_the_architecture_is_made_of_settings() -> None:
    assert set(ARCHITECTURE) < {setting.name for setting in fields(Config)}


def test_settings_that_change_nothing_are_named() -> None:
    given = ["lstm_size", "word_size", "layer_decay", "decay", "sibling_size", "epochs", "loss"]
    assert Config().idle(given) == {"layer_decay": "encoder = transformer"}
    linear = Config(schedule="linear", loss="local")
    assert linear.idle(["decay", "sibling_size", "crf3o_siblings"]) == {
        "decay": "schedule = exponential",
        "sibling_size": "losses of siblings",
        "crf3o_siblings": "loss = crf3o",
    }
    transformer = Config(encoder="transformer", transformer="folder", lstm_layers=0)
    assert set(transformer.idle(given)) == {"lstm_size", "word_size"}
