/** DeleteOptions, from the body or, without a body, from the query. */
import { badRequest, canonicalObject, DecodeError, field, invalid, jsonTypeName } from "@flotilla/apimachinery";
import type { FieldError, KubernetesObject } from "@flotilla/apimachinery";
import { isObject, defined } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import type { RequestContext } from "../request/context.ts";
import { TYPE_META } from "../codec/decode.ts";
import { unregisteredKind } from "./identity.ts";
import { textOf } from "../codec/text.ts";

export type Propagation = "Background" | "Foreground" | "Orphan";

export interface DeletionOptions {
  dryRun: boolean;
  graceSeconds?: number;
  propagation?: Propagation;
  /** The deprecated form of the propagation policy. Responses differ slightly for clients that still use it. */
  orphanDependents?: boolean;
  preconditions: { uid?: string; resourceVersion?: string };
  /** As webhooks see them: DeleteOptions of meta.k8s.io/v1. */
  sent?: JsonObject;
  /** The caller has already run admission: admission does not treat an eviction as a deletion. */
  isAdmitted?: true;
}

export function deletionOptions({ query }: RequestContext, body: Json | undefined): DeletionOptions {
  const given = body === undefined ? fromQuery(query) : fromBody(body);
  const { gracePeriodSeconds: grace, propagationPolicy: policy, orphanDependents: orphan } = given;
  const dryRun = Array.isArray(given.dryRun) ? given.dryRun : [];
  const errors: FieldError[] = [];
  if (policy !== undefined && orphan !== undefined)
    errors.push(
      field.invalid("propagationPolicy", policy, "orphanDependents and deletionPropagation cannot be both set"),
    );
  if (policy !== undefined && policy !== "Background" && policy !== "Foreground" && policy !== "Orphan")
    errors.push(field.notSupported("propagationPolicy", policy, ["Foreground", "Background", "Orphan", "nil"]));
  if (dryRun.some((value) => value !== "All")) errors.push(field.notSupported("dryRun", dryRun, ["All"]));
  if (errors.length > 0) throw invalid("meta.k8s.io", "DeleteOptions", "", errors);
  const propagation =
    (policy as Propagation | undefined) ?? (orphan === true ? "Orphan" : orphan === false ? "Background" : undefined);
  const { uid, resourceVersion } = isObject(given.preconditions) ? given.preconditions : {};
  const { apiVersion: _, kind: __, ...sent } = given;
  return {
    sent: { kind: "DeleteOptions", apiVersion: "meta.k8s.io/v1", ...withoutEmpty(sent) },
    dryRun: dryRun.length > 0,
    graceSeconds: typeof grace === "number" ? grace : undefined,
    propagation,
    orphanDependents: typeof orphan === "boolean" ? orphan : undefined,
    preconditions: {
      uid: typeof uid === "string" ? uid : undefined,
      resourceVersion: typeof resourceVersion === "string" ? resourceVersion : undefined,
    },
  };
}

const withoutEmpty = (options: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => !Array.isArray(value) || value.length > 0));

function fromBody(body: Json): JsonObject {
  if (body === null) return {};
  if (!isObject(body))
    throw badRequest(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonTypeName(body)} into Go value of type ${TYPE_META}`,
    );
  const { apiVersion = "v1", kind = "DeleteOptions" } = body;
  if (kind !== "" && kind !== "DeleteOptions") throw badRequest(unregisteredKind(textOf(kind), textOf(apiVersion)));
  try {
    return canonicalObject("meta-v1", "DeleteOptions", {
      ...body,
      apiVersion,
      kind,
    } as unknown as KubernetesObject) as unknown as JsonObject;
  } catch (error) {
    throw error instanceof DecodeError ? badRequest(error.problem) : error;
  }
}

function fromQuery(query: URLSearchParams): JsonObject {
  const grace = seconds(query.get("gracePeriodSeconds"));
  const policy = query.get("propagationPolicy");
  const orphan = query.get("orphanDependents");
  return {
    dryRun: query.getAll("dryRun"),
    ...defined({
      gracePeriodSeconds: grace,
      propagationPolicy: policy !== null ? policy : undefined,
      orphanDependents: orphan !== null ? orphan !== "0" && orphan.toLowerCase() !== "false" : undefined,
    }),
  };
}

function seconds(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (!/^[-+]?\d{1,15}$/.test(text))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}
