"""The list of rewards, and the page of one."""


def test_rewards_are_listed_and_explained(rlsum, ran):
    printed = ran("rewards")
    for name in ("rouge-l", "wms", "sms", "s+wms", "twmd", "weighted"):
        assert name in printed
    printed = ran("rewards", "sms")
    for words in ("Clark", "vectors", "encoder", "default none", "sms(vectors=...)"):
        assert words in printed
    assert "required" in rlsum("rewards", "bleu-neighbors")[1]
