/** Columns shared by several Open Cluster Management kinds. */
import type { Column } from "@flotilla/apimachinery";

export const OCM_AGE: Column = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

/** The status or reason of a condition. */
export function conditionColumn(name: string, type: string, part: "status" | "reason" = "status"): Column {
  return { name, type: "string", jsonPath: `.status.conditions[?(@.type=="${type}")].${part}` };
}
