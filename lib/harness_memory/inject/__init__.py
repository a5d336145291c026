"""What the model is given: sections, budget, neutral text, receipts."""
