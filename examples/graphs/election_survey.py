"""
An election survey: what the vote depends on
============================================

944 Americans were asked about themselves, their politics and their vote before the election of 1996. Nearly
everything in such a survey is correlated with everything else. A graph shows what is left when all other
answers are known: which depend on each other directly, and which only through others.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import statsmodels.api as sm

import swapwise as sw

# %%
# The table
# ---------
# One row per person and one column per question, as ``pd.read_csv`` reads them. Answers become
# yes or no.

survey = sm.datasets.anes96.load_pandas().data
answers = pd.DataFrame(
    {
        "votes for Dole": survey["vote"] == 1,
        "Republican": survey["PID"] > 3,
        "conservative": survey["selfLR"] > 4,
        "finds Clinton liberal": survey["ClinLR"] < 4,
        "finds Dole conservative": survey["DoleLR"] > 4,
        "news on most days": survey["TVnews"] > 3,
        "older than 45": survey["age"] > 45,
        "college degree": survey["educ"] > 4,
        "income above $45,000": survey["income"] > 18,
        "lives in a city": survey["popul"] > 100,
    }
)
correlations = answers.corr().to_numpy()[np.triu_indices(answers.shape[1], 1)]
clear = np.abs(correlations) > 2 / len(answers) ** 0.5
print(f"{len(answers)} people; {clear.sum()} of {len(clear)} pairs are clearly correlated")

# %%
# The graph
# ---------
# The number of edges is chosen by EBIC along one path of searches; nothing has to be set.

model = sw.IsingGraphCV().fit(answers)
print(model.summary())
print(model.to_frame().round(2).to_string(index=False))

# %%
# The figure
# ----------
# Blue: yes goes with yes; orange and dashed: yes goes with no. The vote has four neighbours. Given these,
# income says nothing more about it: the rich vote for Dole more often because more of them are Republicans.
# ``figure.savefig("survey.pdf")`` saves the figure.

groups = ["politics"] * 5 + ["person"] * 5
figure = sw.plot_graph(model, groups=groups).figure
plt.show()

# %%
# The number of edges
# -------------------
# With fewer edges the fit loses more than the penalty saves; with more edges it gains less than they cost.

sw.plot_path(model)
plt.show()
