/** Launch priority: the containers of a pod start in the order of their priorities. */
import type { KruiseFeature } from "../api/kruise-definition.ts";
import { createLaunchPriorityAdmission } from "./launch-priority-admission.ts";
import { createLaunchPriorityController } from "./launch-priority-controller.ts";

export const launchPriority: KruiseFeature = {
  webhooks: (options) => [createLaunchPriorityAdmission(options)],
  controllers: (deps) => [createLaunchPriorityController(deps)],
};
