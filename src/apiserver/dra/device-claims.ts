/**
 * Admission for ResourceClaims: allocating a claim, or reporting on its devices, needs a separate permission; admin
 * access to devices is granted only in namespaces that allow it; taints get their time.
 */
import { changedDrivers, nodeOfAllocation, prepareClaimStatus } from "../../api/index.ts";
import type { ResourceClaim, ResourceSlice } from "../../api/index.ts";
import { equalJson, formatTime } from "../../base/index.ts";
import type { Clock, DeepReadonly, JsonObject } from "../../base/index.ts";
import { field, invalid } from "../../machinery/index.ts";
import type { FieldError } from "../../machinery/index.ts";
import type { RequestContext } from "../context.ts";
import type { Plugin, PluginRequest } from "../plugin.ts";
import { accessDenied, isMaster } from "../request/authorize.ts";
import type { AccessRequest, Authorizer } from "../request/authorize.ts";
import { textOf } from "../request/text.ts";
import { metadataOf } from "../write/metadata.ts";

type Read = DeepReadonly<JsonObject>;
type Status = NonNullable<DeepReadonly<ResourceClaim>["status"]>;
type Requests = NonNullable<NonNullable<DeepReadonly<ResourceClaim>["spec"]["devices"]>["requests"]>;

const GROUP = "resource.k8s.io";
const ADMIN_LABEL = "resource.kubernetes.io/admin-access";
const NODE_NAME_KEY = "authentication.kubernetes.io/node-name";
const ACCOUNT_PREFIX = "system:serviceaccount:";

const statusOf = (object: Read | undefined): Status =>
  (object as unknown as DeepReadonly<ResourceClaim> | undefined)?.status ?? {};

export function createDeviceClaims({ clock, authorizer }: { clock: Clock; authorizer: Authorizer }): Plugin {
  return {
    name: "DeviceClaims",
    group: GROUP,
    concerns: ({ served: { resource } }, operation) =>
      operation !== "DELETE" && resource.kind.group === GROUP && resource.kind.builtIn,
    mutate({ context, object, oldObject }): Read {
      const { kind } = context.served.resource.kind;
      if (kind === "ResourceSlice") return dateTaints(object, formatTime(clock.now()));
      if (kind !== "ResourceClaim" || context.subresource !== "status") return object;
      return prepareClaimStatus(
        object as unknown as DeepReadonly<ResourceClaim>,
        oldObject as unknown as DeepReadonly<ResourceClaim> | undefined,
      );
    },
    validate(request) {
      const { context, object } = request;
      const errors =
        context.subresource === "status"
          ? [...checkAdminResults(request), ...checkStatusAccess(authorizer, request)]
          : checkAdminRequests(request);
      if (errors.length > 0)
        throw invalid(
          GROUP,
          context.served.resource.kind.kind,
          textOf(metadataOf(object as JsonObject).name ?? ""),
          errors,
        );
    },
  };
}

/** A taint without a time gets the time of the write that added it. */
function dateTaints(object: Read, now: string): Read {
  const { spec } = object as unknown as DeepReadonly<ResourceSlice>;
  if (!spec?.devices?.some(({ taints = [] }) => taints.some(({ timeAdded }) => timeAdded === undefined))) return object;
  const devices = spec.devices.map((device) =>
    device.taints
      ? { ...device, taints: device.taints.map((taint) => ({ ...taint, timeAdded: taint.timeAdded ?? now })) }
      : device,
  );
  return { ...object, spec: { ...spec, devices } };
}

const checkAdminNamespace = ({ context, read }: PluginRequest, at: string): FieldError[] => {
  const { labels } = metadataOf((read.get("", "namespaces", undefined, context.namespace ?? "") ?? {}) as JsonObject);
  return (labels as JsonObject | undefined)?.[ADMIN_LABEL] === "true"
    ? []
    : [
        field.forbidden(
          at,
          `admin access to devices requires the \`${ADMIN_LABEL}: true\` label on the containing namespace`,
        ),
      ];
};

/** Only a new claim is checked: its requests are immutable. */
function checkAdminRequests(request: PluginRequest): FieldError[] {
  const { context, object, operation } = request;
  if (operation !== "CREATE") return [];
  const { kind } = context.served.resource.kind;
  const spec = object.spec as DeepReadonly<JsonObject> | undefined;
  const holder = (kind === "ResourceClaim" ? spec : kind === "ResourceClaimTemplate" ? spec?.spec : undefined) as
    | { devices?: { requests?: Requests } }
    | undefined;
  const index = holder?.devices?.requests?.findIndex(({ exactly }) => exactly?.adminAccess === true) ?? -1;
  return index < 0 ? [] : checkAdminNamespace(request, `spec.devices.requests[${index}].adminAccess`);
}

function checkAdminResults(request: PluginRequest): FieldError[] {
  const adminIn = ({ allocation }: Status): number =>
    allocation?.devices?.results?.findIndex(({ adminAccess }) => adminAccess === true) ?? -1;
  const index = adminIn(statusOf(request.object));
  // Access that was granted before is kept, whatever the labels of the namespace are now.
  if (index < 0 || adminIn(statusOf(request.oldObject)) >= 0) return [];
  return checkAdminNamespace(request, `status.allocation.devices.results[${index}].adminAccess`);
}

/** Schedulers allocate, drivers report: the permission to write the status alone allows neither. */
function checkStatusAccess(
  authorizer: Authorizer,
  { context, options, object, oldObject }: PluginRequest,
): FieldError[] {
  if (isMaster(context.user)) return [];
  const [status, old] = [statusOf(object), statusOf(oldObject)];
  const verb = options.isPatch ? "patch" : "update";
  const errors: FieldError[] = [];
  if (!equalJson(status.allocation, old.allocation) || !equalJson(status.reservedFor, old.reservedFor)) {
    const problem = refusal(authorizer, accessTo(context, verb, "binding"));
    if (problem !== undefined)
      errors.push(
        field.forbidden(
          "status.allocation",
          `changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="${verb}" permission: ${problem}`,
        ),
      );
  }
  if (!status.allocation) return errors;
  const verbs = [
    ...(isOnNode(context, nodeOfAllocation(status.allocation)) ? [`associated-node:${verb}`] : []),
    `arbitrary-node:${verb}`,
  ];
  for (const driver of changedDrivers(status, old)) {
    const problems = verbs.map((one) => refusal(authorizer, accessTo(context, one, "driver", driver)));
    if (!problems.includes(undefined))
      errors.push(
        field.forbidden(
          "status.devices",
          `changing status.devices requires resource="resourceclaims/driver", verb="[${verbs.join(" ")}]" permission: ${problems[0] ?? ""}`,
        ),
      );
  }
  return errors;
}

/** Allocating is authorized cluster-wide, reporting in the namespace of the claim and by the name of the driver. */
function accessTo(
  { user, cluster, namespace }: RequestContext,
  verb: string,
  subresource: "binding" | "driver",
  driver?: string,
): AccessRequest {
  return {
    user,
    verb,
    cluster: cluster.name,
    resource: {
      group: GROUP,
      resource: "resourceclaims",
      subresource,
      ...(driver !== undefined && { name: driver, ...(namespace !== undefined && { namespace }) }),
    },
  };
}

function refusal(authorizer: Authorizer, request: AccessRequest): string | undefined {
  const { allowed, reason } = authorizer.decide(request);
  return allowed ? undefined : accessDenied(request, reason).message;
}

/** A service account whose token is bound to the node of the devices. */
function isOnNode({ user: { name, extra } }: RequestContext, node: string): boolean {
  const nodes = extra?.[NODE_NAME_KEY] ?? [];
  return node !== "" && name.startsWith(ACCOUNT_PREFIX) && nodes.length === 1 && nodes[0] === node;
}
