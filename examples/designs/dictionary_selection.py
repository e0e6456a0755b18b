"""
Digits: a dictionary of few atoms
=================================

Choose sixteen atoms that explain all images, each image by at most five of them. The value of a dictionary X
is the fit of all images: ``h(X) = max Σ_t f_t(Z_t)`` over sets ``Z_t ⊆ X`` of up to five atoms, where f_t is
the share of image t that least squares explains. Replacement Greedy (Fujii and Soma 2018, Fast greedy
algorithms for dictionary selection with generalized sparsity constraints) takes a few lines with the
library's states.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.fft import idctn
from sklearn.datasets import load_digits
from sklearn.linear_model import orthogonal_mp

import swapwise as sw
from swapwise.moves import Move, additions

SIZE, SPARSITY = 16, 5
rng = np.random.default_rng(0)
images = load_digits().data[rng.permutation(1797)]
images -= images.mean(axis=0)
signals, unseen, examples = images[:100], images[100:300], images[300:400]

# %%
# The candidates
# --------------
# All 64 basis functions of the cosine transform and 100 other images, as columns of unit length.

waves = np.array([idctn(wave.reshape(8, 8), norm="ortho").ravel() for wave in np.eye(64)])
atoms = np.vstack([waves, examples / np.linalg.norm(examples, axis=1, keepdims=True)]).T
n_atoms = atoms.shape[1]
fits = [sw.LeastSquares(atoms, signal) for signal in signals]

# %%
# Replacement Greedy
# ------------------
# Every image has a state, which scores all additions and swaps in closed form. The next atom is the one with
# the largest total gain, where each image uses it if that improves its fit, in place of another atom if it
# already has five.


def replacement_greedy():
    """Choose atoms one by one; return them and the states of the images."""
    allowed, dictionary, states = sw.Uniform(n_atoms, SPARSITY), [], [fit.start() for fit in fits]
    for _ in range(SIZE):
        grids = [next(allowed.moves(state.support)) for state in states]
        scores = [state.gains(grid) for state, grid in zip(states, grids, strict=True)]
        gains = sum(np.maximum(score.max(axis=1), 0.0) for score in scores)
        dictionary.append(int(gains.argmax()))
        for state, grid, score in zip(states, grids, scores, strict=True):
            row = score[dictionary[-1]]
            if row.max() > 0:
                state.apply(grid.move(int(dictionary[-1] * len(row) + row.argmax())))
    return dictionary, states


dictionary, states = replacement_greedy()

# %%
# A limit on the average
# ----------------------
# With five atoms per image on average, an image that is hard to explain may use more than an easy one. Free
# places go to the images that gain most from a new atom; then images that lose least give up atoms.


def replacement_greedy_on_average(places):
    """Do the same with one limit on the uses of atoms by all images together."""
    dictionary, states = [], [fit.start() for fit in fits]
    for _ in range(SIZE):
        others = [additions(~np.isin(np.arange(n_atoms), state.support)) for state in states]
        gains = np.array([state.gains(new)[:, 0] for state, new in zip(states, others, strict=True)])
        uses = [(t, int(i)) for t, state in enumerate(states) for i in state.support]
        lost = np.array([states[t].value - fits[t](set(states[t].support) - {i}) for t, i in uses])
        free, cheapest = places - len(uses), np.argsort(lost)
        costs = np.concatenate([np.zeros(free), lost[cheapest]])[: len(states)]
        margins = np.sort(gains, axis=0)[::-1][: len(costs)] - costs[:, None]
        dictionary.append(int(np.maximum(margins, 0.0).sum(axis=0).argmax()))
        n_taken = int((margins[:, dictionary[-1]] > 0).sum())
        for t, i in (uses[use] for use in cheapest[: max(0, n_taken - free)]):
            states[t].apply(Move(dropped=(i,)))
        for t in np.argsort(-gains[:, dictionary[-1]])[:n_taken]:
            states[t].apply(Move(added=(dictionary[-1],)))
    return dictionary, states


averaged, averaged_states = replacement_greedy_on_average(SPARSITY * len(signals))

# %%
# What the dictionaries are worth
# -------------------------------
# On new images and on the training images, with orthogonal matching pursuit for each image.


def explained(chosen, targets):
    """Return the share of some images that a dictionary explains, on average."""
    D = atoms[:, chosen]
    errors = targets.T - D @ orthogonal_mp(D, targets.T, n_nonzero_coefs=SPARSITY)
    return float(1 - np.mean((errors**2).sum(axis=0) / (targets.T**2).sum(axis=0)))


randomly = [explained(rng.choice(n_atoms, SIZE, replace=False), unseen) for _ in range(20)]
worth = {
    "sets of Replacement Greedy": np.mean([state.value for state in states]),
    "sets with a limit on the average": np.mean([state.value for state in averaged_states]),
    "same dictionary, matching pursuit": explained(dictionary, signals),
    "same dictionary, unseen images": explained(dictionary, unseen),
    "random dictionaries, unseen images": float(np.mean(randomly)),
}
for name, share in worth.items():
    print(f"{share:.3f} {name}")

figure, axes = plt.subplots(2, SIZE // 2, figsize=(10, 2.8), constrained_layout=True)
for ax, atom in zip(axes.ravel(), dictionary, strict=True):
    ax.imshow(atoms[:, atom].reshape(8, 8), cmap="RdBu", vmin=-0.4, vmax=0.4)
    ax.set_axis_off()
figure.suptitle(f"Sixteen atoms that explain {worth['same dictionary, unseen images']:.0%} of unseen images")
plt.show()
