/** What the expressions of admission see of a request. */
import type { AdmissionInput, AdmissionRequestFields } from "@flotilla/cel";
import type { Decisions } from "../request/decisions.ts";
import { requestFields } from "./request-fields.ts";
import type { AdmissionQuestion } from "./request-fields.ts";

export function admissionInput(question: AdmissionQuestion): AdmissionInput {
  const { object: _, oldObject: __, options, ...fields } = requestFields(question);
  const { object, oldObject, request } = question;
  return {
    request: { name: "", ...fields, options: options ?? undefined } as unknown as AdmissionRequestFields,
    object,
    oldObject,
    authorize: authorizeIn(request.context.cluster.name, request.decisions),
  };
}

/** Checks of `authorizer` in one cluster. Empty strings are values that the expression did not set. */
function authorizeIn(cluster: string, decisions: Decisions): NonNullable<AdmissionInput["authorize"]> {
  return ({ user: { username = "", uid, groups = [], extra }, verb, resource, path }) =>
    decisions.decide({
      cluster,
      user: { name: username, uid, groups, extra },
      verb,
      path,
      resource: resource && {
        group: resource.group,
        resource: resource.resource,
        subresource: resource.subresource || undefined,
        namespace: resource.namespace || undefined,
        name: resource.name || undefined,
      },
    });
}
