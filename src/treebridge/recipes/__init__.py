"""What each command does: functions that take settings, report progress and return results.

They print nothing; `show` renders what they return.
"""
