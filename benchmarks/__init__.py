"""What byheart is measured with: data sets, metrics, baselines, speed and crash runs; never part of the package."""
