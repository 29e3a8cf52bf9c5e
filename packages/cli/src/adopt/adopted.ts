/** What an adoption did. */
import type { FieldChange } from "@flotilla/flotilla";
import type { Resource } from "./forecast.ts";

export interface Adopted {
  resource: Resource;
  members: AdoptedMember[];
}

export interface AdoptedMember {
  cluster: string;
  replicas?: number;
  /** Whether the pod template and the replica count are unchanged. */
  isUnchanged: boolean;
  /** Changed fields of the spec. */
  fields: FieldChange[];
}
