/**
 * Admission for ResourceClaims: allocating a claim, or reporting on its devices, needs a separate permission; admin
 * access to devices is granted only in namespaces that allow it; taints get their time.
 */
import {
  changedDrivers,
  Namespace,
  nodeOfAllocation,
  prepareClaimStatus,
  NODE_NAME_EXTRA,
  accountOfUser,
} from "@flotilla/kubernetes";
import { field, invalid } from "@flotilla/apimachinery";
import type {
  AccessCheck,
  AdmissionStep,
  FieldError,
  KubernetesObject,
  RequestInfo,
  Review,
} from "@flotilla/apimachinery";
import type { ResourceClaim, ResourceSlice } from "@flotilla/kubernetes";
import { equalJson, formatTime } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { accessDenied, isMaster } from "../request/authorize.ts";

type Read = DeepReadonly<KubernetesObject>;
type Request = Review<KubernetesObject>;
type Status = NonNullable<DeepReadonly<ResourceClaim>["status"]>;
type Requests = NonNullable<NonNullable<DeepReadonly<ResourceClaim>["spec"]["devices"]>["requests"]>;

const GROUP = "resource.k8s.io";
const ADMIN_LABEL = "resource.kubernetes.io/admin-access";

const statusOf = (object: Read | undefined): Status =>
  (object as DeepReadonly<ResourceClaim> | undefined)?.status ?? {};

/** For the kinds of the group; loaded when the first of their objects is written. */
export const deviceClaims: Pick<AdmissionStep, "complete" | "check"> = {
  complete({ kind: { kind }, subresource, object, oldObject, nowMs }) {
    if (kind === "ResourceSlice") return dateTaints(object as DeepReadonly<ResourceSlice>, formatTime(nowMs()));
    if (kind !== "ResourceClaim" || subresource !== "status") return object;
    return prepareClaimStatus(
      object as DeepReadonly<ResourceClaim>,
      oldObject as DeepReadonly<ResourceClaim> | undefined,
    );
  },
  check(request) {
    const { kind, subresource, object } = request;
    const errors =
      subresource === "status"
        ? [...checkAdminResults(request), ...checkStatusAccess(request)]
        : checkAdminRequests(request);
    if (errors.length > 0) throw invalid(GROUP, kind.kind, object.metadata.name, errors);
  },
};

/** A taint without a time gets the time of the write that added it. */
function dateTaints(object: DeepReadonly<ResourceSlice>, now: string): DeepReadonly<ResourceSlice> {
  const { spec } = object;
  if (!spec?.devices?.some(({ taints = [] }) => taints.some(({ timeAdded }) => timeAdded === undefined))) return object;
  const devices = spec.devices.map((device) =>
    device.taints
      ? { ...device, taints: device.taints.map((taint) => ({ ...taint, timeAdded: taint.timeAdded ?? now })) }
      : device,
  );
  return { ...object, spec: { ...spec, devices } };
}

const checkAdminNamespace = ({ namespace = "", read }: Request, at: string): FieldError[] => {
  const labels = read.get(Namespace, undefined, namespace)?.metadata.labels;
  return labels?.[ADMIN_LABEL] === "true"
    ? []
    : [
        field.forbidden(
          at,
          `admin access to devices requires the \`${ADMIN_LABEL}: true\` label on the containing namespace`,
        ),
      ];
};

interface Holder {
  readonly devices?: { readonly requests?: Requests };
}

/** Only a new claim is checked: its requests are immutable. */
function checkAdminRequests(request: Request): FieldError[] {
  const {
    kind: { kind },
    object,
    operation,
  } = request;
  if (operation !== "CREATE") return [];
  const { spec } = object as Read & { spec?: Holder & { spec?: Holder } };
  const holder = kind === "ResourceClaim" ? spec : kind === "ResourceClaimTemplate" ? spec?.spec : undefined;
  const index = holder?.devices?.requests?.findIndex(({ exactly }) => exactly?.adminAccess === true) ?? -1;
  return index < 0 ? [] : checkAdminNamespace(request, `spec.devices.requests[${index}].adminAccess`);
}

function checkAdminResults(request: Request): FieldError[] {
  const adminIn = ({ allocation }: Status): number =>
    allocation?.devices?.results?.findIndex(({ adminAccess }) => adminAccess === true) ?? -1;
  const index = adminIn(statusOf(request.object));
  // Access that was granted before is kept, whatever the labels of the namespace are now.
  if (index < 0 || adminIn(statusOf(request.oldObject)) >= 0) return [];
  return checkAdminNamespace(request, `status.allocation.devices.results[${index}].adminAccess`);
}

/** Schedulers allocate, drivers report: the permission to write the status alone allows neither. */
function checkStatusAccess(request: Request): FieldError[] {
  if (isMaster(request.user)) return [];
  const [status, old] = [statusOf(request.object), statusOf(request.oldObject)];
  const verb = request.isPatch ? "patch" : "update";
  const errors: FieldError[] = [];
  if (!equalJson(status.allocation, old.allocation) || !equalJson(status.reservedFor, old.reservedFor)) {
    const problem = refusal(request, accessTo(request, verb, "binding"));
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
    ...(isOnNode(request, nodeOfAllocation(status.allocation)) ? [`associated-node:${verb}`] : []),
    `arbitrary-node:${verb}`,
  ];
  for (const driver of changedDrivers(status, old)) {
    const problems = verbs.map((one) => refusal(request, accessTo(request, one, "driver", driver)));
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
  { namespace }: RequestInfo,
  verb: string,
  subresource: "binding" | "driver",
  driver?: string,
): AccessCheck {
  const on = { group: GROUP, resource: "resourceclaims", subresource };
  return driver === undefined ? { verb, ...on } : { verb, ...on, name: driver, namespace };
}

function refusal({ decide, user, cluster }: Request, question: AccessCheck): string | undefined {
  const { allowed, reason } = decide(question);
  const { verb, ...resource } = question;
  return allowed ? undefined : accessDenied({ user, cluster, verb, resource }, reason).message;
}

/** A service account whose token is bound to the node of the devices. */
function isOnNode({ user: { name, extra } }: RequestInfo, node: string): boolean {
  const nodes = extra?.[NODE_NAME_EXTRA] ?? [];
  return node !== "" && accountOfUser(name) !== undefined && nodes.length === 1 && nodes[0] === node;
}
