/** Plans of the server: what `flotilla plan` prints. */
import { request } from "./session.ts";

export interface PlannedChange {
  cluster: string;
  action: "create" | "update" | "delete";
  object: { apiVersion: string; kind: string; namespace?: string; name: string };
  fields: readonly { path: string; before?: unknown; after?: unknown }[];
  more?: number;
  note?: string;
}
export interface Plan {
  hub: readonly Omit<PlannedChange, "cluster">[];
  changes: readonly PlannedChange[];
  problems: readonly { resource: string; message: string }[];
  warnings: readonly { resource: string; message: string }[];
  /** Releases that would begin; `changes` are those of their first step. */
  releases?: readonly {
    resource: string;
    total: number;
    waves: readonly { name: string; updated: number; clusters: readonly string[]; before?: readonly string[] }[];
  }[];
  unplanned: readonly string[];
  notes: readonly string[];
  unreachable?: readonly { cluster: string; reason: string }[];
}

export const askPlan = (
  given: { text?: string; without?: readonly string[]; namespace?: string },
  signal?: AbortSignal,
): Promise<Plan> => request<Plan>("plan", { method: "POST", body: given, signal });
