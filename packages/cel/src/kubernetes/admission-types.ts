/** The variables of admission expressions: their types, and their values for one request. */
import { omitZero } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import type { Schema } from "@flotilla/apimachinery";
import { dynamicValueOf } from "../values/dynamic-values.ts";
import { authorizationType } from "../types/functions.ts";
import { celValueOf } from "../compile/json-values.ts";
import { type Authorize, CelAuthorizer, resourceCheck } from "../library/authorizer.ts";
import { BOOL, type CelType, DYN, INT, listOf, mapOf, STRING, structOf, TIMESTAMP } from "../types/types.ts";
import type { CelValue } from "../values/values.ts";

interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}
interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** The request of an AdmissionReview without its objects, which are variables of their own. */
export interface AdmissionRequestFields {
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly subResource?: string | undefined;
  readonly requestKind: GroupVersionKind;
  readonly requestResource: GroupVersionResource;
  readonly requestSubResource?: string | undefined;
  /** Empty when the server generates the name. */
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly operation: string;
  readonly userInfo: {
    readonly username?: string | undefined;
    readonly uid?: string | undefined;
    readonly groups?: readonly string[] | undefined;
    readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
  };
  readonly dryRun: boolean;
  readonly options?: DeepReadonly<JsonObject> | undefined;
}

/** The data of one request. Absent objects are null in expressions. */
export interface AdmissionInput {
  readonly request: AdmissionRequestFields;
  readonly object?: DeepReadonly<JsonObject> | undefined;
  readonly oldObject?: DeepReadonly<JsonObject> | undefined;
  readonly params?: DeepReadonly<JsonObject> | undefined;
  readonly namespaceObject?: DeepReadonly<JsonObject> | undefined;
  /** Decides on the checks of `authorizer`; without it the variable has no value. */
  readonly authorize?: Authorize | undefined;
}

const struct = (name: string, fields: Readonly<Record<string, CelType>>): CelType =>
  structOf(`kubernetes.${name}`, new Map(Object.entries(fields)));

const KIND = struct("GroupVersionKind", { group: STRING, version: STRING, kind: STRING });
const RESOURCE = struct("GroupVersionResource", { group: STRING, version: STRING, resource: STRING });
const USER = struct("UserInfo", {
  username: STRING,
  uid: STRING,
  groups: listOf(STRING),
  extra: mapOf(STRING, listOf(STRING)),
});
const REQUEST = struct("AdmissionRequest", {
  kind: KIND,
  resource: RESOURCE,
  subResource: STRING,
  requestKind: KIND,
  requestResource: RESOURCE,
  requestSubResource: STRING,
  name: STRING,
  namespace: STRING,
  operation: STRING,
  userInfo: USER,
  dryRun: BOOL,
  options: DYN,
});

const NAMESPACE = struct("Namespace", {
  metadata: struct("NamespaceMetadata", {
    name: STRING,
    generateName: STRING,
    namespace: STRING,
    labels: mapOf(STRING, STRING),
    annotations: mapOf(STRING, STRING),
    // Upstream declares the name of the Go field, so no expression can read the uid.
    UID: STRING,
    creationTimestamp: TIMESTAMP,
    deletionGracePeriodSeconds: INT,
    deletionTimestamp: TIMESTAMP,
    generation: INT,
    resourceVersion: STRING,
    finalizers: listOf(STRING),
  }),
  spec: struct("NamespaceSpec", { finalizers: listOf(STRING) }),
  status: struct("NamespaceStatus", {
    conditions: listOf(
      struct("NamespaceCondition", {
        status: STRING,
        type: STRING,
        lastTransitionTime: TIMESTAMP,
        message: STRING,
        reason: STRING,
      }),
    ),
    phase: STRING,
  }),
});

/** The schema of values of a type, so that a Namespace's times are timestamps as its type says. */
function schemaOf(type: CelType): Schema {
  const [first, second] = type.parameters;
  switch (type.kind) {
    case "list":
      return { type: "array", items: schemaOf(first ?? STRING) };
    case "map":
      return { type: "object", additionalProperties: schemaOf(second ?? STRING) };
    case "struct":
      return {
        type: "object",
        properties: Object.fromEntries(Array.from(type.fields ?? [], ([name, field]) => [name, schemaOf(field)])),
      };
    case "timestamp":
      return { type: "string", format: "date-time" };
    default:
      return { type: type.kind === "int" ? "integer" : "string" };
  }
}

const NAMESPACE_SCHEMA = schemaOf(NAMESPACE);

const REQUEST_RESOURCE = "authorizer.requestResource";

export interface DeclaredVariables {
  readonly hasParams?: boolean;
  readonly hasAuthorizer?: boolean;
  /** The types of the objects and the parameters, where they are known: any by default. */
  readonly objectType?: CelType | undefined;
  readonly paramsType?: CelType | undefined;
}

/** The types of the variables, without those that a policy defines itself. */
export function admissionVariables({
  hasParams = false,
  hasAuthorizer = true,
  objectType = DYN,
  paramsType = DYN,
}: DeclaredVariables): Record<string, CelType> {
  const variables: Record<string, CelType> = {
    object: objectType,
    oldObject: objectType,
    namespaceObject: NAMESPACE,
    request: REQUEST,
  };
  if (hasParams) variables["params"] = paramsType;
  if (hasAuthorizer) {
    variables["authorizer"] = authorizationType("Authorizer");
    variables[REQUEST_RESOURCE] = authorizationType("ResourceCheck");
  }
  return variables;
}

/** The values of the variables for one request. */
export function admissionValues(input: AdmissionInput): Record<string, CelValue> {
  const { request, object, oldObject, params, namespaceObject, authorize } = input;
  const values: Record<string, CelValue> = {
    object: dynamicValueOf(object ?? null),
    oldObject: dynamicValueOf(oldObject ?? null),
    params: dynamicValueOf(params ?? null),
    request: requestValue(request),
    namespaceObject: namespaceObject ? celValueOf(namespaceObject as JsonObject, NAMESPACE_SCHEMA) : null,
  };
  if (authorize) {
    const authorizer = new CelAuthorizer(request.userInfo, authorize);
    values["authorizer"] = authorizer;
    values[REQUEST_RESOURCE] = resourceCheck(
      authorizer,
      request.requestResource.group,
      request.requestResource.resource,
    ).with({
      subresource: request.requestSubResource ?? "",
      namespace: request.namespace ?? "",
      name: request.name,
    });
  }
  return values;
}

const requestValues = new WeakMap<AdmissionRequestFields, CelValue>();

/** All policies that match a request read the same one. */
function requestValue(request: AdmissionRequestFields): CelValue {
  let value = requestValues.get(request);
  if (value === undefined) requestValues.set(request, (value = dynamicValueOf(requestJson(request))));
  return value;
}

/** The request as JSON: optional fields that are empty are absent, as in an AdmissionReview. */
function requestJson(request: AdmissionRequestFields): JsonObject {
  const { userInfo, options, subResource, requestSubResource, namespace, name, ...required } = request;
  const { username, uid, groups, extra } = userInfo;
  return {
    ...required,
    ...present({ subResource, requestSubResource, namespace, name }),
    userInfo: present({
      username,
      uid,
      groups: groups?.length ? groups : undefined,
      extra: extra && Object.keys(extra).length > 0 ? extra : undefined,
    }),
    ...omitZero({ options }),
  } as unknown as JsonObject;
}

const present = (fields: Readonly<Record<string, unknown>>): Record<string, Json> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== "")) as Record<
    string,
    Json
  >;
