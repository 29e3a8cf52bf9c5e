/** Columns that OpenKruise's kinds share. */
import { AGE } from "@flotilla/apimachinery";
import type { Column } from "@flotilla/apimachinery";

export const count = (name: string, jsonPath: string): Column => ({ name, type: "integer", jsonPath });

/** Age, and the containers of the template in wide output. */
export const AGE_AND_CONTAINERS: readonly Column[] = [
  AGE,
  { name: "CONTAINERS", type: "string", jsonPath: ".spec.template.spec.containers[*].name", priority: 1 },
  { name: "IMAGES", type: "string", jsonPath: ".spec.template.spec.containers[*].image", priority: 1 },
];
