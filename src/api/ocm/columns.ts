/** Columns that several kinds of Open Cluster Management have. */
import type { Column } from "../kind.ts";

export const OCM_AGE: Column = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

/** The status of a condition, or why it is so. */
export function conditionColumn(name: string, type: string, part: "status" | "reason" = "status"): Column {
  return { name, type: "string", jsonPath: `.status.conditions[?(@.type=="${type}")].${part}` };
}
