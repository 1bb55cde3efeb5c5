"""From sentences to tensors: vocabulary numbers, batches, gold annotation."""
