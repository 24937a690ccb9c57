"""Small random encoders of many kinds, made on the fly as Hugging Face folders."""

from __future__ import annotations

import json
from pathlib import Path

import torch
import transformers as hf
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

from treebridge.corpus.artificial import World

SMALL = {"hidden_size": 32, "num_hidden_layers": 5, "num_attention_heads": 4}
KINDS = ["bert", "distilbert", "roberta", "xlm-r", "electra", "albert", "deberta", "marian", "t5",
         "mbart", "gpt2"]  # fmt: skip


def make(kind: str, folder: Path, max_pieces: int = 64) -> Path:
    """A folder with config, weights and tokenizer of this kind of encoder."""
    torch.manual_seed(len(kind))
    tokenizer = _tokenizer(kind)
    tokenizer.save_pretrained(folder)
    vocab = len(tokenizer)
    pad = tokenizer.pad_token_id
    bert = {**SMALL, "vocab_size": vocab, "pad_token_id": pad, "intermediate_size": 64,
            "max_position_embeddings": max_pieces}  # fmt: skip
    bart = {"vocab_size": vocab, "d_model": 32, "encoder_layers": 5, "decoder_layers": 1,
            "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 64,
            "decoder_ffn_dim": 64, "max_position_embeddings": max_pieces, "pad_token_id": pad,
            "decoder_start_token_id": pad}  # fmt: skip
    config = {
        "bert": lambda: hf.BertConfig(**bert),
        "distilbert": lambda: hf.DistilBertConfig(
            vocab_size=vocab, dim=32, n_layers=5, n_heads=4, hidden_dim=64, pad_token_id=pad,
            max_position_embeddings=max_pieces,
        ),
        "roberta": lambda: hf.RobertaConfig(
            **{**bert, "max_position_embeddings": max_pieces + pad + 1}
        ),
        "xlm-r": lambda: hf.XLMRobertaConfig(
            **{**bert, "max_position_embeddings": max_pieces + pad + 1}
        ),
        "electra": lambda: hf.ElectraConfig(**bert, embedding_size=16),
        "albert": lambda: hf.AlbertConfig(**bert, embedding_size=16),
        "deberta": lambda: hf.DebertaV2Config(**bert, relative_attention=True, pos_att_type="c2p|p2c"),
        "marian": lambda: hf.MarianConfig(**bart),
        "mbart": lambda: hf.MBartConfig(**bart),
        "t5": lambda: hf.T5Config(
            vocab_size=vocab, d_model=32, d_kv=8, d_ff=64, num_layers=5, num_decoder_layers=1,
            num_heads=4, pad_token_id=pad, decoder_start_token_id=pad,
        ),
        "gpt2": lambda: hf.GPT2Config(
            vocab_size=vocab, n_embd=32, n_layer=5, n_head=4, n_positions=max_pieces
        ),
    }[kind]()  # fmt: skip
    hf.AutoModel.from_config(config).save_pretrained(folder)
    return folder


def _tokenizer(kind: str) -> hf.PreTrainedTokenizerFast:
    """WordPiece, byte-level BPE or Unigram, each with the special tokens of its family."""
    text = list(World(3).text("source", 400))
    if kind in ("bert", "distilbert", "electra"):
        tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
        trainer = trainers.WordPieceTrainer(
            vocab_size=300, special_tokens=special, show_progress=False
        )
        names = dict(zip(["pad", "unk", "cls", "sep", "mask"], special, strict=True))
        template = "[CLS] $A [SEP]"
    elif kind in ("roberta", "gpt2"):
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
        special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
        trainer = trainers.BpeTrainer(
            vocab_size=500, special_tokens=special, show_progress=False,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        )  # fmt: skip
        names = dict(zip(["bos", "pad", "eos", "unk", "mask"], special, strict=True))
        template = "<s> $A </s>" if kind == "roberta" else "$A"
    else:
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        special = ["<s>", "<pad>", "</s>", "<unk>"]
        trainer = trainers.UnigramTrainer(
            vocab_size=300, special_tokens=special, unk_token="<unk>", show_progress=False
        )
        names = dict(zip(["bos", "pad", "eos", "unk"], special, strict=True))
        template = "$A </s>" if kind in ("marian", "t5") else "<s> $A </s>"
    tokenizer.train_from_iterator(text, trainer)
    known = [(token, tokenizer.token_to_id(token)) for token in special]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=template, special_tokens=[pair for pair in known if pair[0] in template]
    )
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, **{f"{name}_token": token for name, token in names.items()}
    )


def make_opus_mt(folder: Path, *, positions: bool = True) -> Path:
    """A folder as the conversion of OPUS-MT leaves it: SentencePiece models, pickled weights.

    Checkpoints of 2020 hold the positions, which are computed anyway; later ones leave them out.
    """
    from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

    vocabulary = {"</s>": 0, "<unk>": 1}  # Marian's numbers, which are not SentencePiece's
    for side, language in (("source", "source"), ("target", "near")):
        with (folder / f"{side}.spm").open("wb") as stream:
            SentencePieceTrainer.train(
                sentence_iterator=iter(World(3).text(language, 400)), model_writer=stream,
                vocab_size=200, hard_vocab_limit=False, minloglevel=2,
            )  # fmt: skip
        trained = SentencePieceProcessor(model_file=str(folder / f"{side}.spm"))
        for index in range(3, trained.get_piece_size()):
            vocabulary.setdefault(trained.id_to_piece(index), len(vocabulary))
    pad = vocabulary["<pad>"] = len(vocabulary)
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    languages = {"source_lang": "qaa", "target_lang": "qab"}
    (folder / "tokenizer_config.json").write_text(json.dumps(languages), encoding="utf-8")
    torch.manual_seed(1)
    config = hf.MarianConfig(
        vocab_size=len(vocabulary), d_model=32, encoder_layers=5, decoder_layers=1,
        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64,
        decoder_ffn_dim=64, max_position_embeddings=256, pad_token_id=pad, eos_token_id=0,
        decoder_start_token_id=pad, scale_embedding=True, activation_function="swish",
        static_position_embeddings=True, architectures=["MarianMTModel"],
    )  # fmt: skip
    config.save_pretrained(folder)
    weights = hf.MarianMTModel(config).state_dict()
    kept = {k: v for k, v in weights.items() if positions or "embed_positions" not in k}
    torch.save(kept, folder / "pytorch_model.bin")
    return folder
