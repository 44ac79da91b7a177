"""The agents and sessions behind what is shown: started, spoken to, lost and started again."""
