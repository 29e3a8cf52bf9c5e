/** Descriptions of Kubernetes' types that kinds of several projects have. Our own kinds have the same. */
import { descriptionsOf } from "./descriptions.ts";
import type { FieldDescriptions } from "./descriptions.ts";
import { conditions, labelSelector } from "./schema-builder.ts";

export const labelSelectorDescriptions: FieldDescriptions = descriptionsOf(labelSelector("").schema);
/** For a list of conditions. */
export const conditionsDescriptions: FieldDescriptions = descriptionsOf(conditions("").schema);
