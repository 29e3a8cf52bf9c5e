export * from "./create-delivery.ts";
export * from "./delivery.ts";
export { formatSteps, type FieldDrift } from "./drift.ts";
export { isContainer } from "./holdings.ts";
export { APPLIED_DIGEST, isReleasedFrom, isSameDelivery, MANAGED_LABEL, RELEASED_FROM } from "./marks.ts";
export * from "./member-lanes.ts";
export * from "./observer.ts";
export { mayHaveArrived, obstacleOf, type Obstacle } from "./obstacles.ts";
export { createRefusals, type Refusals } from "./refusals.ts";
