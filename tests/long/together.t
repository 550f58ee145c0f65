# All settings in combination: tests/cases/94-together.t, of which this runs the long form.
TOGETHER_ALL=1
. tests/cases/94-together.t
