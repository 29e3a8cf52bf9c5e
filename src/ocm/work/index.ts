export { applyOrder } from "./apply-order.ts";
export { evaluateRules } from "./condition-rules.ts";
export { readFeedback } from "./feedback.ts";
export { aggregateConditions, mergeManifests } from "./manifest-conditions.ts";
export { optionsOf } from "./manifest-options.ts";
export { isOwned, untracked } from "./ownership.ts";
