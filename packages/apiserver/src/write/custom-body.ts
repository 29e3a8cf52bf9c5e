/**
 * kube-apiserver decodes a custom object by its schema before anything else, so it reports unknown fields even when it
 * rejects the request for another reason. Here that happens when a request is rejected.
 */
import { ApiError, DecodeError, metadataProblem, parseApiVersion, undecodable } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import type { RequestContext } from "../request/context.ts";
import { canonicalForm } from "./admit.ts";
import type { AdmitDependencies } from "./admit.ts";
import type { DecodedObject } from "../codec/decode.ts";
import { reportFields } from "./field-validation.ts";
import { writeOptions } from "../request/options.ts";
import type { Resource } from "../resources/resources.ts";
import { textOf } from "../codec/text.ts";

/** Warns about unknown fields in a rejected body; throws when field validation is strict. */
export function reportUnknownFields(
  deps: Pick<AdmitDependencies, "chain">,
  context: RequestContext,
  body: DecodedObject,
  verb: "create" | "update",
): void {
  const { served, subresource } = context;
  if (served.resource.kind.builtIn || (subresource !== undefined && subresource !== "status")) return;
  const object = canonicalOf(deps, context, body.object);
  if (object)
    reportFields(
      unknownFields(served.resource, object),
      body,
      context,
      writeOptions(context, verb === "create" ? "CreateOptions" : "UpdateOptions"),
    );
}

/**
 * Undefined when the body has no canonical form: then that is the reason for the rejection, and its fields are not
 * unknown.
 */
function canonicalOf(
  deps: Pick<AdmitDependencies, "chain">,
  context: RequestContext,
  object: JsonObject,
): JsonObject | undefined {
  try {
    return canonicalForm(deps, context, object, () => {});
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** Rejects metadata that cannot be decoded. Throws 400. Parts that are those of the stored metadata are valid. */
export function checkReadable(
  { served }: RequestContext,
  { metadata, kind: sent, apiVersion }: JsonObject,
  stored?: JsonObject,
): void {
  const { kind } = served.resource;
  const problem = kind.builtIn ? undefined : metadataProblem(metadata, stored);
  if (problem !== undefined)
    throw undecodable(
      {
        sent: textOf(sent ?? kind.kind),
        version: parseApiVersion(textOf(apiVersion ?? served.apiVersion)).version,
        kind: kind.kind,
      },
      problem,
    );
}

/** Adds what could not be decoded to the error; a patch reports the same problem in different words. */
export function explainUnreadable({ served }: RequestContext, error: ApiError): ApiError {
  const { kind, builtIn } = served.resource.kind;
  const isBare = error instanceof DecodeError && error.message === error.problem;
  return isBare && !builtIn ? undecodable({ sent: kind, version: served.version, kind }, error.problem) : error;
}

/** Uses the schema of the version in the object. A version that does not exist has no known fields. */
function unknownFields({ kind, versions, storage }: Resource, object: JsonObject): string[] {
  const { apiVersion, kind: sentKind } = object;
  if (sentKind !== kind.kind || typeof apiVersion !== "string" || !apiVersion.startsWith(`${kind.group}/`)) return [];
  const served = [...versions, storage].find((version) => version.apiVersion === apiVersion);
  const unknown: string[] = [];
  if (served) served.compiled.admit(object, { unknownFields: unknown });
  else
    unknown.push(...Object.keys(object).filter((key) => key !== "apiVersion" && key !== "kind" && key !== "metadata"));
  return unknown;
}
