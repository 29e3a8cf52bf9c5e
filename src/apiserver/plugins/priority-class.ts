/** PriorityClass: at most one is the default for pods that name none. */
import type { PriorityClass } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { forbidden } from "../../machinery/index.ts";
import type { Plugin } from "../plugin.ts";

const GROUP = "scheduling.k8s.io";
const PLURAL = "priorityclasses";

export const priorityClassDefault: Plugin = {
  name: "PriorityClassDefault",
  group: GROUP,
  concerns: ({ served: { resource }, subresource }, operation) =>
    resource.name.resource === PLURAL &&
    resource.name.group === GROUP &&
    operation !== "DELETE" &&
    subresource === undefined,
  validate({ object, operation, read }) {
    const { metadata, globalDefault } = object as unknown as DeepReadonly<PriorityClass>;
    if (!globalDefault) return;
    const others = read.list(GROUP, PLURAL) as unknown as DeepReadonly<PriorityClass>[];
    const present = others.find(
      (other) => other.globalDefault && (operation === "CREATE" || other.metadata.name !== metadata.name),
    );
    if (present)
      throw forbidden(
        { group: GROUP, resource: PLURAL },
        metadata.name,
        `PriorityClass ${present.metadata.name} is already marked as default. Only one default can exist`,
      );
  },
};
