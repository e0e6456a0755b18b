"""
Every constraint in a picture
=============================

Dots are elements; larger dots have larger weights. Each panel draws the limits of one constraint and fills a
max-weight independent set. :doc:`/choose-your-constraint` has the explanations and the code.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Rectangle
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

import swapwise as sw

CHOSEN, EDGE, LIMIT, TOUCHED, REFUSED = "#1f6fb4", "#3a3a3a", "#6b6b6b", "#e3eef8", "#c4391d"

# %%
# How it is drawn
# ---------------
# The filled set is computed: a max-weight independent set, with a proof that none is heavier. Groups are
# boxes, crossed lines are conflicts, arrows lead to what an element needs, a bar is a budget. Where elements
# are edges, their dots are in the middle; squares are vertices, or things that elements use.


def panel(title, call, constraint, worth):
    """Return the next axes with a title, and which elements are chosen."""
    ax = next(panels)
    ax.set(xlim=(0, 10), ylim=(0, 8), aspect="equal", xticks=[], yticks=[])
    for spine in ax.spines.values():
        spine.set_color("#d0d0d0")
    ax.set_title(title, fontsize=11, color=EDGE, pad=18)
    ax.text(5, 8.3, call, ha="center", fontsize=8.5, family="monospace", color=LIMIT)
    best = sw.exact(sw.Linear(worth), constraint)
    answers[title] = constraint, best
    return ax, np.isin(np.arange(constraint.n), best.support)


def dots(ax, places, worth, chosen):
    """Draw elements, filled where they are chosen."""
    for (x, y), size, is_in in zip(places, worth, chosen, strict=True):
        face, rim = (CHOSEN, CHOSEN) if is_in else ("white", EDGE)
        ax.add_patch(Circle((x, y), 0.26 + 0.055 * size, fc=face, ec=rim, lw=1.3, zorder=3))


def box(ax, left, bottom, width, height, label="", is_touched=False, style="-"):
    """Draw a group, with its limit below."""
    shape = FancyBboxPatch((left, bottom), width, height, boxstyle="round,pad=0,rounding_size=0.35")
    shape.set(fc=TOUCHED if is_touched else "none", ec=LIMIT, lw=1.3, ls=style, zorder=1)
    ax.add_patch(shape)
    ax.text(left + width / 2, bottom - 0.15, label, ha="center", va="top", fontsize=9, color=EDGE)


def line(ax, start, end, color=LIMIT, **style):
    """Draw a line between two places."""
    ax.plot(*zip(start, end, strict=True), color=color, zorder=1, **style)


def forbid(ax, start, end):
    """Draw a conflict: a line that is crossed out in its middle."""
    line(ax, start, end, REFUSED, lw=1.5, ls=(0, (3, 2)))
    middle = np.add(start, end) / 2
    ax.plot(*middle, marker="x", color=REFUSED, ms=9, mew=2.4, zorder=2)


def arrow(ax, start, end):
    """Draw that one element needs another."""
    style = {"arrowstyle": "-|>", "mutation_scale": 13, "shrinkA": 15, "shrinkB": 15}
    ax.add_patch(FancyArrowPatch(start, end, color=LIMIT, lw=1.3, zorder=1, **style))


def spend(ax, costs, chosen, budget, bottom=0.7):
    """Draw what the chosen elements take of a budget."""
    unit, left = 8 / budget, 1.0
    ax.add_patch(Rectangle((1, bottom), 8, 0.8, fc="none", ec=LIMIT, lw=1.3, zorder=2))
    for cost in np.asarray(costs)[chosen]:
        ax.add_patch(Rectangle((left, bottom), cost * unit, 0.8, fc=CHOSEN, ec="white", lw=1.3, zorder=1))
        middle = left + cost * unit / 2, bottom + 0.38
        ax.text(*middle, cost, ha="center", va="center", fontsize=9, color="white")
        left += cost * unit
    ax.text(9, bottom - 0.1, f"budget {budget}", ha="right", va="top", fontsize=9, color=EDGE)


def things(ax, places):
    """Draw posts, or whatever elements take up."""
    for x, y in places:
        ax.add_patch(Rectangle((x - 0.3, y - 0.3), 0.6, 0.6, fc="#f2f2f2", ec=LIMIT, lw=1.3, zorder=3))


def graph(ax, corner, edges, worth, chosen):
    """Draw edges with a dot each; chosen ones are thick."""
    middles = []
    for number, (v, w) in enumerate(edges):
        line(ax, corner[v], corner[w], CHOSEN if chosen[number] else LIMIT, lw=3.5 if chosen[number] else 1.2)
        share = {6: 0.7, 7: 0.25}.get(number, 0.5)
        middles.append(tuple(share * np.array(corner[v]) + (1 - share) * np.array(corner[w])))
    things(ax, corner.values())
    dots(ax, middles, worth, chosen)


# %%
# The constraints
# ---------------

figure, panels = plt.subplots(4, 4, figsize=(12, 12.4), layout="constrained")
figure.get_layout_engine().set(h_pad=0.1)
panels = iter(panels.ravel())
answers = {}

# Limits on numbers

worth = np.array([5, 2, 4, 1, 3, 6, 2, 5, 3, 1, 4, 2])
grid = [(1.4 + 2.4 * (e % 4), 6.3 - 2.3 * (e // 4)) for e in range(12)]
ax, chosen = panel("at most 4", "Uniform(12, 4)", sw.Uniform(12, 4), worth)
dots(ax, grid, worth, chosen)

site = np.arange(12) // 3
columns = [(1.4 + 2.4 * s, 6.6 - 1.9 * k) for s in range(4) for k in range(3)]
ax, chosen = panel("at most 1 per group", "Partition(site, 1)", sw.Partition(site, 1), worth)
dots(ax, columns, worth, chosen)
for s in range(4):
    box(ax, 0.4 + 2.4 * s, 1.5, 2.0, 6.1, "≤ 1")

little = np.array([5, 6, 4, 1, 2, 1, 6, 5, 3, 2, 1, 1])
lower = sw.Partition(site, 2, at_least=1, size=6)
ax, chosen = panel("at least 1 per group, 6 in all", "Partition(site, 2, at_least=1, size=6)", lower, little)
dots(ax, columns, little, chosen)
for s in range(4):
    box(ax, 0.4 + 2.4 * s, 1.5, 2.0, 6.1, "1 to 2")

nested = [([0, 1, 2], 1), ([3, 4, 5], 2), (range(6), 2), (range(6, 12), 2)]
ax, chosen = panel("nested groups", "Laminar(12, limits)", sw.Laminar(12, nested), worth)
rows = [(1.4 + 1.35 * k, 6.3 - 2.8 * s) for s in range(2) for k in range(3)]
rows += [(6.6 + 1.9 * (k % 2), 6.6 - 1.9 * (k // 2)) for k in range(6)]
dots(ax, rows, worth, chosen)
for bottom, label in ((5.4, "≤ 1"), (2.6, "≤ 2")):
    box(ax, 0.6, bottom, 4.3, 1.8, label)
box(ax, 0.3, 1.5, 4.9, 6.1, "≤ 2")
box(ax, 5.7, 1.5, 3.9, 6.1, "≤ 2")

ax, chosen = panel("from at most 2 groups", "FewGroups(site, 2)", sw.FewGroups(site, 2), worth)
dots(ax, columns, worth, chosen)
for s in range(4):
    touched = chosen[site == s].any()
    box(ax, 0.4 + 2.4 * s, 1.5, 2.0, 6.1, "in" if touched else "out", touched)

kind = np.arange(12) % 3
both = sw.Intersection(sw.Partition(site, 1), sw.Partition(kind, 1))
ax, chosen = panel("two groupings at once", "Intersection(columns, rows)", both, worth)
dots(ax, columns, worth, chosen)
for s in range(4):
    box(ax, 0.55 + 2.4 * s, 1.5, 1.7, 6.3, "≤ 1")
for k in range(3):
    box(ax, 0.2, 5.9 - 1.9 * k, 9.6, 1.4, style=(0, (3, 2)))

# Pairs, needs and costs

around = [(2, 6.6), (5, 6.8), (8, 6.4), (1.6, 3.9), (4.9, 4.1), (8.3, 3.7), (2.9, 1.4), (6.6, 1.3)]
pairs = [(0, 1), (1, 2), (0, 3), (3, 4), (4, 5), (4, 7), (6, 7)]
value = np.array([4, 6, 3, 5, 6, 4, 2, 3])
ax, chosen = panel("not both of two", "Conflicts(8, pairs)", sw.Conflicts(8, pairs), value)
dots(ax, around, value, chosen)
for one, other in pairs:
    forbid(ax, around[one], around[other])

rng = np.random.default_rng(7)
spots = 0.75 * np.array(grid) + [1.2, 1.0] + rng.uniform(-0.4, 0.4, (12, 2))
news = rng.integers(1, 7, 12)
distance = np.linalg.norm(spots[:, None] - spots, axis=2)
near = np.argwhere(np.triu(distance < 3.0, k=1))
ax, chosen = panel("no two too close", "Conflicts(12, near)", sw.Conflicts(12, near), news)
for spot in spots[chosen]:
    ax.add_patch(Circle(spot, 1.5, fc=TOUCHED, ec=LIMIT, lw=1.0, ls=(0, (3, 2)), zorder=0))
dots(ax, spots, news, chosen)

terms = sw.Hierarchy.from_names(["a", "b", "c", "a:b", "a:c", "b:c", "a^2"], size=4)
effects = [(2, 5.8), (5, 5.8), (8, 5.8), (3.5, 2.2), (5.6, 2.2), (7.7, 2.2), (1.3, 2.2)]
use = np.array([2, 3, 1, 6, 4, 5, 4])
ax, chosen = panel("interactions with main effects", "Hierarchy.from_names(terms, 4)", terms, use)
dots(ax, effects, use, chosen)
for term, parents in terms.parents.items():
    for parent in parents:
        arrow(ax, effects[term], effects[parent])
for element, name in enumerate(terms.names):
    x, y = effects[element]
    ax.text(x, y + (1.0 if element < 3 else -1.1), name, ha="center", va="center", fontsize=9, color=EDGE)

costs = np.array([4, 3, 5, 2, 3, 4, 1, 2])
ax, chosen = panel("within a budget", "Knapsack(costs, 10)", sw.Knapsack(costs, 10), value)
shelf = [(1.6 + 2.3 * (e % 4), 6.7 - 2.4 * (e // 4)) for e in range(8)]
dots(ax, shelf, value, chosen)
for (x, y), cost in zip(shelf, costs, strict=True):
    ax.text(x, y - 0.85, f"costs {cost}", ha="center", va="top", fontsize=8.5, color=EDGE)
spend(ax, costs, chosen, 10)

half = np.arange(8) // 4
groups, apart = sw.Partition(half, {0: 3, 1: 1}), sw.Conflicts(8, [(0, 1), (4, 5)])
rules = sw.Intersection(groups, apart, sw.Knapsack(costs, 10))
ax, chosen = panel("several rules of any kind", "Intersection(groups, pairs, budget)", rules, value)
dots(ax, shelf, value, chosen)
for pair in apart.pairs:
    forbid(ax, *(shelf[e] for e in pair))
for h in range(2):
    box(ax, 0.5, 5.9 - 2.4 * h, 9.0, 1.6, "≤ 1" if h else "≤ 3")
spend(ax, costs, chosen, 10)

forced = sw.Uniform(12, 4).contract([3]).restrict([e for e in range(12) if e not in (5, 7)])
ax, chosen = panel("these in, those out", ".contract(these).restrict(others)", forced, worth)
dots(ax, grid, worth, chosen)
ax.add_patch(Circle(grid[3], 0.75, fc="none", ec=CHOSEN, lw=2.0, ls=(0, (2, 1))))
for e in (5, 7):
    ax.plot(*grid[e], marker="x", color=REFUSED, ms=20, mew=2.4, zorder=4)

# Graphs, assignments and vectors

corner = {v: (5 + 3.6 * np.sin(v * np.pi / 3), 4 + 3.2 * np.cos(v * np.pi / 3)) for v in range(6)}
edges = [(v, (v + 1) % 6) for v in range(6)] + [(0, 3), (1, 4)]
heavy = np.array([6, 2, 4, 3, 5, 1, 4, 2])


ax, chosen = panel("each vertex at most 1 edge", "BMatching(edges, 1)", sw.BMatching(edges, 1), heavy)
graph(ax, corner, edges, heavy, chosen)
ax, chosen = panel("a forest", "Graphic(edges)", sw.Graphic(edges), heavy)
graph(ax, corner, edges, heavy, chosen)

posts = [[0, 1, 2], [1, 2], [2, 3, 4]]
workers = [(2.3, 7.0 - 1.5 * e) for e in range(5)]
desks = [(7.7, 6.0 - 2.0 * k) for k in range(3)]
skill = np.array([3, 5, 6, 2, 4])
ax, chosen = panel("a post for each", "Transversal(5, posts)", sw.Transversal(5, posts), skill)
can = np.array([[chosen[e] and e in able for e in range(5)] for able in posts])
fills = maximum_bipartite_matching(csr_array(can), perm_type="column")
for desk, able, by in zip(desks, posts, fills, strict=True):
    for worker in able:
        line(ax, workers[worker], desk, CHOSEN if worker == by else LIMIT, lw=3.5 if worker == by else 1.2)
things(ax, desks)
dots(ax, workers, skill, chosen)

vectors = np.array([[4.6, 0.9], [2.3, 0.45], [2.6, 4.2], [-3.0, 3.6]])
length = np.array([3, 2, 5, 4])
ax, chosen = panel("linearly independent", "LinearMatroid(vectors)", sw.LinearMatroid(vectors.T), length)
origin = np.array([4.2, 1.7])
for tip in origin + vectors:
    line(ax, origin, tip, lw=1.3)
dots(ax, origin + vectors, length, chosen)
plt.show()
