/** A request about which webhooks are called and on which policies are evaluated, before it is carried out. */
import type { JsonObject } from "@flotilla/base";
import type { RequestContext } from "../request/context.ts";
import type { Decisions } from "../request/decisions.ts";
import type { AdmissionOperation } from "./match-rules.ts";

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface AdmissionRequest {
  readonly context: RequestContext;
  /** What expressions ask about access. */
  readonly decisions: Decisions;
  readonly operation: AdmissionOperation;
  /** The kind of the object, where it is not the kind of the resource: an Eviction of a pod, a Scale. */
  readonly kind?: GroupVersionKind;
  /** The name of the object; unset while it is still to be generated. */
  readonly name: string | undefined;
  readonly dryRun: boolean;
  /** The options of the request, as an object of `meta.k8s.io/v1`. */
  readonly options: JsonObject | undefined;
  /** Unset for a deletion. */
  readonly object: JsonObject | undefined;
  readonly oldObject: JsonObject | undefined;
}

type OptionsKind = "CreateOptions" | "UpdateOptions" | "DeleteOptions";

/** The options that a client sent in the query, as webhooks see them. A patch has those of the write that it is. */
export function queriedOptions({ query }: RequestContext, kind: OptionsKind): JsonObject {
  const options: JsonObject = { kind, apiVersion: "meta.k8s.io/v1" };
  const dryRun = query.getAll("dryRun");
  if (dryRun.length > 0) options.dryRun = dryRun;
  if (kind === "DeleteOptions") return options;
  for (const name of ["fieldManager", "fieldValidation"]) {
    const value = query.get(name);
    if (value !== null && value !== "") options[name] = value;
  }
  return options;
}
