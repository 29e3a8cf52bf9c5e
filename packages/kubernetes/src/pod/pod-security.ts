/** Validates security contexts: the user a pod runs as, and its privileges on the node. */
import type { DeepReadonly } from "@flotilla/base";
import { checkText, dnsSubdomainProblems, field } from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import type {
  AppArmorProfile,
  Container,
  PodSecurityContext,
  PodSpec,
  SeccompProfile,
  SecurityContext,
  WindowsSecurityContextOptions,
} from "@flotilla/apimachinery/facts/core-v1.ts";
import { checkDescendingPath } from "./pod-paths.ts";

type Read<T> = DeepReadonly<T>;

const MAX_ID = 2_147_483_647;
const ID_RANGE = `must be between 0 and ${MAX_ID}, inclusive`;

function checkId(errors: FieldError[], at: string, id: number | undefined): void {
  if (id !== undefined && (id < 0 || id > MAX_ID)) errors.push(field.invalid(at, id, ID_RANGE));
}

function checkOneOf(errors: FieldError[], at: string, value: string | undefined, supported: readonly string[]): void {
  if (value !== undefined && !supported.includes(value)) errors.push(field.notSupported(at, value, supported));
}

/** `hostUsers`: the pod shares its node's user namespace. */
export function checkSecurityContext(
  errors: FieldError[],
  at: string,
  context: Read<SecurityContext>,
  hostUsers: boolean,
): void {
  const {
    runAsUser,
    runAsGroup,
    procMount,
    seccompProfile,
    allowPrivilegeEscalation,
    privileged,
    capabilities,
    windowsOptions,
    appArmorProfile,
  } = context;
  checkId(errors, `${at}.runAsUser`, runAsUser);
  checkId(errors, `${at}.runAsGroup`, runAsGroup);
  checkOneOf(errors, `${at}.procMount`, procMount, ["Default", "Unmasked"]);
  if (hostUsers && procMount === "Unmasked")
    errors.push(field.invalid(`${at}.procMount`, procMount, "`hostUsers` must be false to use `Unmasked`"));
  if (seccompProfile) checkSeccomp(errors, `${at}.seccompProfile`, seccompProfile);
  if (allowPrivilegeEscalation === false) {
    if (privileged)
      errors.push(
        field.invalid(at, context, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"),
      );
    if (capabilities?.add?.includes("CAP_SYS_ADMIN"))
      errors.push(
        field.invalid(
          at,
          context,
          "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN",
        ),
      );
  }
  if (windowsOptions) checkWindowsOptions(errors, `${at}.windowsOptions`, windowsOptions);
  if (appArmorProfile) checkAppArmor(errors, `${at}.appArmorProfile`, appArmorProfile);
}

export function checkPodSecurityContext(errors: FieldError[], at: string, spec: Read<PodSpec>): void {
  const context: Read<PodSecurityContext> | undefined = spec.securityContext;
  if (!context) return;
  checkId(errors, `${at}.fsGroup`, context.fsGroup);
  checkId(errors, `${at}.runAsUser`, context.runAsUser);
  checkId(errors, `${at}.runAsGroup`, context.runAsGroup);
  for (const [index, group] of (context.supplementalGroups ?? []).entries())
    checkId(errors, `${at}.supplementalGroups[${index}]`, group);
  if (spec.shareProcessNamespace && spec.hostPID)
    errors.push(
      field.invalid(`${at}.shareProcessNamespace`, true, "ShareProcessNamespace and HostPID cannot both be enabled"),
    );
  if (context.sysctls) checkSysctls(errors, `${at}.sysctls`, context.sysctls, spec);
  checkOneOf(errors, `${at}.fsGroupChangePolicy`, context.fsGroupChangePolicy, ["Always", "OnRootMismatch"]);
  if (context.seccompProfile) checkSeccomp(errors, `${at}.seccompProfile`, context.seccompProfile);
  if (context.windowsOptions) checkWindowsOptions(errors, `${at}.windowsOptions`, context.windowsOptions);
  if (context.appArmorProfile) checkAppArmor(errors, `${at}.appArmorProfile`, context.appArmorProfile);
  checkOneOf(errors, `${at}.supplementalGroupsPolicy`, context.supplementalGroupsPolicy, ["Merge", "Strict"]);
  checkOneOf(errors, `${at}.seLinuxChangePolicy`, context.seLinuxChangePolicy, ["MountOption", "Recursive"]);
}

const SYSCTL = "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
const SYSCTL_PART = /^[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?$/;
const MAX_SYSCTL_LENGTH = 253;
const isSysctl = (name: string): boolean =>
  name.length <= MAX_SYSCTL_LENGTH && name.split(/[./]/).every((part) => SYSCTL_PART.test(part));

/** Kernel settings of namespaces that a pod can have for itself. */
const NET_SYSCTL = /^net\./;
const IPC_SYSCTL = /^(?:kernel\.(?:shm.*|msg.*|sem)|fs\.mqueue\..*)$/;

function checkSysctls(
  errors: FieldError[],
  at: string,
  sysctls: NonNullable<Read<PodSecurityContext>["sysctls"]>,
  { hostNetwork, hostIPC }: Read<PodSpec>,
): void {
  const seen = new Set<string>();
  for (const [index, { name = "" }] of sysctls.entries()) {
    const path = `${at}[${index}].name`;
    if (name === "") errors.push(field.required(path));
    else if (!isSysctl(name))
      errors.push(
        field.invalid(path, name, `must have at most ${MAX_SYSCTL_LENGTH} characters and match regex ${SYSCTL}`),
      );
    else if (seen.has(name)) errors.push(field.duplicate(path, name));
    const dotted = name.replaceAll("/", ".");
    if (hostNetwork && NET_SYSCTL.test(dotted))
      errors.push(field.invalid(path, name, "may not be specified when 'hostNetwork' is true"));
    else if (hostIPC && IPC_SYSCTL.test(dotted))
      errors.push(field.invalid(path, name, "may not be specified when 'hostIPC' is true"));
    seen.add(name);
  }
}

const PROFILE_TYPES = ["Localhost", "RuntimeDefault", "Unconfined"];

function checkSeccomp(errors: FieldError[], at: string, profile: Read<SeccompProfile>): void {
  const { type, localhostProfile } = profile;
  if (!type) errors.push(field.required(`${at}.type`, "type is required when seccompProfile is set"));
  else if (!PROFILE_TYPES.includes(type)) errors.push(field.notSupported(`${at}.type`, type, PROFILE_TYPES));
  if (type === "Localhost") {
    if (localhostProfile === undefined)
      errors.push(field.required(`${at}.localhostProfile`, "must be set when seccomp type is Localhost"));
    else checkDescendingPath(errors, `${at}.localhostProfile`, localhostProfile);
  } else if (localhostProfile !== undefined)
    errors.push(field.invalid(`${at}.localhostProfile`, profile, "can only be set when seccomp type is Localhost"));
}

/** PATH_MAX without the terminating byte. */
const MAX_PROFILE_BYTES = 4095;

export function checkAppArmor(
  errors: FieldError[],
  at: string,
  { type, localhostProfile }: Read<AppArmorProfile>,
): void {
  if (!type) return void errors.push(field.required(`${at}.type`, "type is required when appArmorProfile is set"));
  if (!PROFILE_TYPES.includes(type)) return void errors.push(field.notSupported(`${at}.type`, type, PROFILE_TYPES));
  const path = `${at}.localhostProfile`;
  if (type !== "Localhost") {
    if (localhostProfile !== undefined)
      errors.push(field.invalid(path, localhostProfile, "can only be set when AppArmor type is Localhost"));
    return;
  }
  if (localhostProfile === undefined || localhostProfile === "")
    errors.push(field.required(path, "must be set when AppArmor type is Localhost"));
  else {
    if (localhostProfile.trim() !== localhostProfile)
      errors.push(field.invalid(path, localhostProfile, "must not be padded with whitespace"));
    if (Buffer.byteLength(localhostProfile) > MAX_PROFILE_BYTES) errors.push(field.tooLong(path, MAX_PROFILE_BYTES));
  }
}

const MAX_CREDENTIAL_SPEC_KIB = 64;
const NETBIOS_NAME = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const DOMAIN_PART = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$/;

function checkWindowsOptions(
  errors: FieldError[],
  at: string,
  { gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName }: Read<WindowsSecurityContextOptions>,
): void {
  if (gmsaCredentialSpecName !== undefined)
    errors.push(...checkText(`${at}.gmsaCredentialSpecName`, gmsaCredentialSpecName, dnsSubdomainProblems));
  if (gmsaCredentialSpec === "")
    errors.push(field.invalid(`${at}.gmsaCredentialSpec`, "", "gmsaCredentialSpec cannot be an empty string"));
  else if (gmsaCredentialSpec !== undefined && Buffer.byteLength(gmsaCredentialSpec) > MAX_CREDENTIAL_SPEC_KIB * 1024) {
    errors.push(
      field.invalid(
        `${at}.gmsaCredentialSpec`,
        gmsaCredentialSpec,
        `gmsaCredentialSpec size must be under ${MAX_CREDENTIAL_SPEC_KIB} KiB`,
      ),
    );
  }
  if (runAsUserName !== undefined) errors.push(...checkText(`${at}.runAsUserName`, runAsUserName, windowsUserProblems));
}

/** `DOMAIN\USER`, or the user alone. */
function windowsUserProblems(name: string): string[] {
  if (name === "") return ["runAsUserName cannot be an empty string"];
  if (/\p{Cc}/u.test(name)) return ["runAsUserName cannot contain control characters"];
  const parts = name.split("\\");
  if (parts.length > 2) return ["runAsUserName cannot contain more than one backslash"];
  const problems: string[] = [];
  const user = parts.at(-1) ?? "";
  const domain = parts.length === 2 ? (parts[0] ?? "") : undefined;
  if ((domain ?? "").length >= 256) problems.push("runAsUserName's Domain length must be under 256 characters");
  if (domain !== undefined && !NETBIOS_NAME.test(domain) && !domain.split(".").every((part) => DOMAIN_PART.test(part)))
    problems.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
  if (user === "") problems.push("runAsUserName's User cannot be empty");
  else if (user.length > 104) problems.push("runAsUserName's User length must not be longer than 104 characters");
  if (/^[. ]+$/.test(user)) problems.push("runAsUserName's User cannot contain only periods or spaces");
  if (/["/\\:;|=,+*?<>@[\]]/.test(user))
    problems.push("runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]");
  return problems;
}

/** Every container with the path of its field: init containers, containers, ephemeral ones. */
export function* containersOf(at: string, spec: Read<PodSpec>): Generator<[field: string, container: Read<Container>]> {
  for (const list of ["initContainers", "containers", "ephemeralContainers"] as const) {
    for (const [index, container] of (spec[list] ?? []).entries()) yield [`${at}.${list}[${index}]`, container];
  }
}

/** Whether a container matches; cheaper than iterating over them with their paths. */
export function someContainer(spec: Read<PodSpec>, test: (container: Read<Container>) => boolean): boolean {
  return (
    (spec.containers?.some(test) || spec.initContainers?.some(test) || spec.ephemeralContainers?.some(test)) ?? false
  );
}

const isForWindows = ({ securityContext }: Read<Container>): boolean => securityContext?.windowsOptions !== undefined;

/** Windows HostProcess containers: either all containers of a pod or none. */
export function checkHostProcess(errors: FieldError[], at: string, spec: Read<PodSpec>): void {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  if (ofPod === undefined && !someContainer(spec, isForWindows)) return;
  let all = 0;
  let onHost = 0;
  for (const [path, { securityContext }] of containersOf(at, spec)) {
    all += 1;
    const own = securityContext?.windowsOptions?.hostProcess;
    if (ofPod !== undefined && own !== undefined && ofPod !== own) {
      errors.push(
        field.invalid(
          `${path}.securityContext.windowsOptions.hostProcess`,
          own,
          `pod hostProcess value must be identical if both are specified, was ${ofPod}`,
        ),
      );
    }
    if (own ?? ofPod) onHost += 1;
  }
  if (onHost === 0) return;
  if (onHost !== all)
    errors.push(
      field.invalid(
        at,
        "",
        "If pod contains any hostProcess containers then all containers must be HostProcess containers",
      ),
    );
  if (!spec.hostNetwork)
    errors.push(
      field.invalid(`${at}.hostNetwork`, false, "hostNetwork must be true if pod contains any hostProcess containers"),
    );
}

/** A pod with its own user namespace shares no other namespace with its node. */
export function checkHostUsers(errors: FieldError[], at: string, spec: Read<PodSpec>): void {
  if (spec.hostUsers !== false) return;
  if (spec.hostNetwork) errors.push(field.forbidden(`${at}.hostNetwork`, "when `hostUsers` is false"));
  if (spec.hostPID) errors.push(field.forbidden(`${at}.HostPID`, "when `hostUsers` is false"));
  if (spec.hostIPC) errors.push(field.forbidden(`${at}.HostIPC`, "when `hostUsers` is false"));
  for (const [path, { volumeDevices }] of containersOf(at, spec))
    if (volumeDevices?.length) errors.push(field.forbidden(`${path}.volumeDevices`, "when `hostUsers` is false"));
}

const ON_LINUX_ONLY = "cannot be set for a windows pod";
const POD_LINUX_FIELDS = ["seccompProfile", "fsGroup", "fsGroupChangePolicy", "sysctls"] as const;
const POD_LINUX_IDS = [
  "runAsUser",
  "runAsGroup",
  "supplementalGroups",
  "supplementalGroupsPolicy",
  "seLinuxChangePolicy",
] as const;
const CONTAINER_LINUX_FIELDS = [
  "appArmorProfile",
  "seLinuxOptions",
  "seccompProfile",
  "capabilities",
  "readOnlyRootFilesystem",
  "privileged",
  "allowPrivilegeEscalation",
  "procMount",
  "runAsUser",
  "runAsGroup",
] as const;

/** Fields that do not exist on the pod's operating system. */
export function checkOperatingSystem(errors: FieldError[], at: string, spec: Read<PodSpec>): void {
  if (!spec.os) return;
  const { name = "" } = spec.os as { name?: string };
  if (name === "") errors.push(field.required(`${at}.os.name`));
  else if (name === "linux") checkLinux(errors, at, spec);
  else if (name === "windows") checkWindows(errors, at, spec);
  else errors.push(field.notSupported(`${at}.os`, name, ["linux", "windows"]));
}

function checkLinux(errors: FieldError[], at: string, spec: Read<PodSpec>): void {
  if (spec.securityContext?.windowsOptions)
    errors.push(
      field.forbidden(`${at}.securityContext.windowsOptions`, "windows options cannot be set for a linux pod"),
    );
  for (const [path, { securityContext }] of containersOf(at, spec)) {
    if (securityContext?.windowsOptions)
      errors.push(
        field.forbidden(`${path}.securityContext.windowsOptions`, "windows options cannot be set for a linux pod"),
      );
  }
}

function checkWindows(errors: FieldError[], at: string, spec: Read<PodSpec>): void {
  const context: Read<PodSecurityContext> = spec.securityContext ?? {};
  const refuse = (path: string): void => void errors.push(field.forbidden(`${at}.${path}`, ON_LINUX_ONLY));
  if (context.appArmorProfile) refuse("securityContext.appArmorProfile");
  if (context.seLinuxOptions) refuse("securityContext.seLinuxOptions");
  if (spec.hostUsers !== undefined) refuse("hostUsers");
  if (spec.hostPID) refuse("hostPID");
  if (spec.hostIPC) refuse("hostIPC");
  for (const name of POD_LINUX_FIELDS) if (context[name] !== undefined) refuse(`securityContext.${name}`);
  if (spec.shareProcessNamespace !== undefined) refuse("shareProcessNamespace");
  for (const name of POD_LINUX_IDS) if (context[name] !== undefined) refuse(`securityContext.${name}`);
  for (const [fieldPath, { securityContext }] of containersOf(at, spec)) {
    for (const name of CONTAINER_LINUX_FIELDS)
      if (securityContext?.[name] !== undefined)
        errors.push(field.forbidden(`${fieldPath}.securityContext.${name}`, ON_LINUX_ONLY));
  }
}
