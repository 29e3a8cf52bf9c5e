/** Validates the volumes of a pod: each has a name and exactly one source with its required fields. */
// oxlint-disable typescript/no-useless-default-assignment -- types say what a valid object has; here anything may still be absent.
import type { DeepReadonly } from "@flotilla/base";
import { checkText, dnsLabelProblems, dnsSubdomainProblems, field, tryParseQuantity } from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import type { KeyToPath, Volume, VolumeSource } from "@flotilla/apimachinery/facts/core-v1.ts";
import { checkClaimTemplate } from "./pod-claims.ts";
import { checkKeyToPath, checkMode } from "./pod-files.ts";
import { checkDescendingPath, checkNoBacksteps } from "./pod-paths.ts";
import { checkDownwardFile, checkProjection } from "./pod-projections.ts";
import { checkRemoteVolume } from "./pod-remote-volumes.ts";

type Read<T> = DeepReadonly<T>;
type Source = keyof VolumeSource;
/** `podName` is set for a pod; its name is part of the names of its claims. */
export interface VolumeContext {
  errors: FieldError[];
  isPod: boolean;
  podName?: string;
}

/** All sources, in the order in which Kubernetes checks them. */
const SOURCES: readonly Source[] = [
  "emptyDir",
  "hostPath",
  "gitRepo",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "secret",
  "nfs",
  "iscsi",
  "glusterfs",
  "flocker",
  "persistentVolumeClaim",
  "rbd",
  "cinder",
  "cephfs",
  "quobyte",
  "downwardAPI",
  "fc",
  "flexVolume",
  "configMap",
  "azureFile",
  "vsphereVolume",
  "photonPersistentDisk",
  "portworxVolume",
  "azureDisk",
  "storageos",
  "projected",
  "scaleIO",
  "csi",
  "ephemeral",
  "image",
];

const SOURCE_NAMES: ReadonlySet<string> = new Set(SOURCES);

/** Whether a volume has a source. Unknown fields do not count. */
export const hasSource = (volume: Read<Volume>): boolean => Object.keys(volume).some((key) => SOURCE_NAMES.has(key));

/** Returns the volumes that containers may mount: those without errors, by name. */
export function checkVolumes(
  context: VolumeContext,
  at: string,
  volumes: readonly Read<Volume>[],
): ReadonlyMap<string, Read<Volume>> {
  const { errors, podName } = context;
  const good = new Map<string, Read<Volume>>();
  const created = new Set(
    podName ? volumes.filter(({ ephemeral }) => ephemeral).map(({ name }) => `${podName}-${name}`) : [],
  );
  for (const [index, volume] of volumes.entries()) {
    const path = `${at}[${index}]`;
    const { name = "", persistentVolumeClaim } = volume;
    const before = errors.length;
    checkSources(context, path, volume);
    if (name === "") errors.push(field.required(`${path}.name`));
    else errors.push(...checkText(`${path}.name`, name, dnsLabelProblems));
    if (good.has(name)) errors.push(field.duplicate(`${path}.name`, name));
    if (errors.length === before) good.set(name, volume);
    if (persistentVolumeClaim && created.has(persistentVolumeClaim.claimName)) {
      errors.push(
        field.invalid(
          `${path}.persistentVolumeClaim.claimName`,
          persistentVolumeClaim.claimName,
          "must not reference a PVC that gets created for an ephemeral volume",
        ),
      );
    }
  }
  return good;
}

/** Source names in the error for a second source, where upstream spells them differently. */
const SECOND_SOURCE: Partial<Record<Source, string>> = { cephfs: "cephFS", downwardAPI: "downwarAPI" };

function checkSources(context: VolumeContext, at: string, volume: Read<Volume>): void {
  const { errors } = context;
  let found = 0;
  for (const source of SOURCES) {
    if (volume[source] === undefined) continue;
    found += 1;
    if (found > 1)
      errors.push(
        field.forbidden(`${at}.${SECOND_SOURCE[source] ?? source}`, "may not specify more than 1 volume type"),
      );
    else checkSource(context, at, source, volume);
    const { iscsi, name = "" } = volume;
    if (source === "iscsi" && iscsi?.initiatorName !== undefined && `${name}:${iscsi.targetPortal ?? ""}`.length > 64) {
      errors.push(
        field.invalid(
          `${at}.name`,
          name,
          "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.",
        ),
      );
    }
  }
  if (found === 0) errors.push(field.required(at, "must specify a volume type"));
}

const HOST_PATH_TYPES = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];
const PULL_POLICIES = ["Always", "IfNotPresent", "Never"];

function checkSource(context: VolumeContext, at: string, source: Source, volume: Read<Volume>): void {
  const { errors } = context;
  const fieldPath = `${at}.${source}`;
  switch (source) {
    case "emptyDir":
      if ((tryParseQuantity(volume.emptyDir?.sizeLimit ?? "0")?.mantissa ?? 0n) < 0n)
        errors.push(field.forbidden(`${fieldPath}.sizeLimit`, "SizeLimit field must be a valid resource quantity"));
      return;
    case "hostPath": {
      const { path, type } = volume.hostPath ?? {};
      if (!path) return void errors.push(field.required(`${fieldPath}.path`));
      checkNoBacksteps(errors, `${fieldPath}.path`, path);
      if (type !== undefined && !HOST_PATH_TYPES.includes(type))
        errors.push(field.notSupported(`${fieldPath}.type`, type, HOST_PATH_TYPES));
      return;
    }
    case "gitRepo":
      if (!volume.gitRepo?.repository) errors.push(field.required(`${fieldPath}.repository`));
      return checkDescendingPath(errors, `${fieldPath}.directory`, volume.gitRepo?.directory ?? "");
    case "secret":
      if (!volume.secret?.secretName) errors.push(field.required(`${fieldPath}.secretName`));
      return checkFiles(errors, fieldPath, volume.secret ?? {});
    case "configMap":
      if (!volume.configMap?.name) errors.push(field.required(`${fieldPath}.name`));
      return checkFiles(errors, fieldPath, volume.configMap ?? {});
    case "persistentVolumeClaim":
      if (!volume.persistentVolumeClaim?.claimName) errors.push(field.required(`${fieldPath}.claimName`));
      return;
    case "downwardAPI":
      checkMode(errors, `${fieldPath}.defaultMode`, volume.downwardAPI?.defaultMode);
      // Upstream reports the source, not the file.
      for (const file of volume.downwardAPI?.items ?? []) checkDownwardFile(errors, fieldPath, file);
      return;
    case "projected":
      checkMode(errors, `${fieldPath}.defaultMode`, volume.projected?.defaultMode);
      return checkProjection(errors, fieldPath, volume.projected ?? {});
    case "csi":
      return checkCsi(errors, fieldPath, volume.csi ?? { driver: "" });
    case "ephemeral":
      return checkEphemeral(context, at, volume);
    case "image":
      if (context.isPod && !volume.image?.reference) errors.push(field.required(`${fieldPath}.reference`));
      if (!volume.image?.pullPolicy) errors.push(field.required(`${fieldPath}.pullPolicy`));
      else if (!PULL_POLICIES.includes(volume.image.pullPolicy))
        errors.push(field.notSupported(`${fieldPath}.pullPolicy`, volume.image.pullPolicy, PULL_POLICIES));
      return;
    default:
      checkRemoteVolume(errors, at, source, volume);
  }
}

function checkFiles(
  errors: FieldError[],
  at: string,
  {
    defaultMode,
    items,
  }: { readonly defaultMode?: number | undefined; readonly items?: readonly Read<KeyToPath>[] | undefined },
): void {
  checkMode(errors, `${at}.defaultMode`, defaultMode);
  for (const [index, item] of (items ?? []).entries()) checkKeyToPath(errors, `${at}.items[${index}]`, item);
}

function checkCsi(
  errors: FieldError[],
  at: string,
  { driver = "", nodePublishSecretRef }: NonNullable<Read<Volume>["csi"]>,
): void {
  if (driver === "") errors.push(field.required(`${at}.driver`));
  else {
    if (Buffer.byteLength(driver) > 63) errors.push(field.tooLong(`${at}.driver`, 63));
    errors.push(
      ...dnsSubdomainProblems(driver.toLowerCase()).map((problem) => field.invalid(`${at}.driver`, driver, problem)),
    );
  }
  if (!nodePublishSecretRef) return;
  const { name } = nodePublishSecretRef;
  if (!name) errors.push(field.required(`${at}.nodePublishSecretRef.name`));
  else errors.push(...checkText(`${at}.name`, name, dnsSubdomainProblems));
}

function checkEphemeral({ errors, podName }: VolumeContext, at: string, { name, ephemeral }: Read<Volume>): void {
  const template = ephemeral?.volumeClaimTemplate;
  if (!template) errors.push(field.required(`${at}.ephemeral.volumeClaimTemplate`));
  else checkClaimTemplate(errors, `${at}.ephemeral.volumeClaimTemplate`, template);
  if (!podName || !name) return;
  const claim = `${podName}-${name}`;
  errors.push(
    ...dnsSubdomainProblems(claim).map((problem) =>
      field.invalid(`${at}.name`, name, `PVC name ${JSON.stringify(claim)}: ${problem}`),
    ),
  );
}
