/** Validates volume mounts and volume devices of a container. */
// oxlint-disable typescript/no-useless-default-assignment -- types say what a valid object has; here anything may still be absent.
import type { DeepReadonly } from "@flotilla/base";
import { field, type FieldError } from "@flotilla/apimachinery";
import type { Container, Volume, VolumeMount } from "@flotilla/apimachinery/facts/core-v1.ts";
import { checkDescendingPath } from "./pod-paths.ts";

type Read<T> = DeepReadonly<T>;
type Volumes = ReadonlyMap<string, Read<Volume>>;

const PROPAGATIONS = ["Bidirectional", "HostToContainer", "None"];
const READ_ONLY_DEPTHS = ["Disabled", "Enabled", "IfPossible"];

export function checkMounts(errors: FieldError[], at: string, container: Read<Container>, volumes: Volumes): void {
  const paths = new Set<string>();
  const devices = container.volumeDevices ?? [];
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const path = `${at}[${index}]`;
    const { name = "", mountPath = "", subPath, subPathExpr } = mount;
    if (name === "") errors.push(field.required(`${path}.name`));
    if (!volumes.has(name)) errors.push(field.notFound(`${path}.name`, name));
    if (mountPath === "") errors.push(field.required(`${path}.mountPath`));
    if (paths.has(mountPath)) errors.push(field.invalid(`${path}.mountPath`, mountPath, "must be unique"));
    paths.add(mountPath);
    if (devices.some((device) => device.name === name))
      errors.push(field.invalid(`${path}.name`, name, "must not already exist in volumeDevices"));
    if (devices.some((device) => device.devicePath === mountPath))
      errors.push(field.invalid(`${path}.mountPath`, mountPath, "must not already exist as a path in volumeDevices"));
    // From here on upstream reports the list, not the mount.
    if (subPath) checkDescendingPath(errors, `${at}.subPath`, subPath);
    if (subPathExpr) {
      if (subPath)
        errors.push(
          field.invalid(`${path}.subPathExpr`, subPathExpr, "subPathExpr and subPath are mutually exclusive"),
        );
      checkDescendingPath(errors, `${at}.subPathExpr`, subPathExpr);
    }
    checkPropagation(errors, at, mount, container.securityContext?.privileged === true);
  }
}

function checkPropagation(
  errors: FieldError[],
  at: string,
  { mountPropagation, recursiveReadOnly, readOnly }: Read<VolumeMount>,
  privileged: boolean,
): void {
  if (mountPropagation !== undefined && !PROPAGATIONS.includes(mountPropagation))
    errors.push(field.notSupported(`${at}.mountPropagation`, mountPropagation, PROPAGATIONS));
  if (mountPropagation === "Bidirectional" && !privileged)
    errors.push(
      field.forbidden(
        `${at}.mountPropagation`,
        "Bidirectional mount propagation is available only to privileged containers",
      ),
    );
  if (recursiveReadOnly === undefined || recursiveReadOnly === "Disabled") return;
  const path = `${at}.recursiveReadOnly`;
  if (!READ_ONLY_DEPTHS.includes(recursiveReadOnly))
    return void errors.push(field.notSupported(path, recursiveReadOnly, READ_ONLY_DEPTHS));
  if (!readOnly) errors.push(field.forbidden(path, "may only be specified when readOnly is true"));
  if (mountPropagation !== undefined && mountPropagation !== "None")
    errors.push(field.forbidden(path, "may only be specified when mountPropagation is None or not specified"));
}

export function checkDevices(
  errors: FieldError[],
  at: string,
  { volumeDevices, volumeMounts = [] }: Read<Container>,
  volumes: Volumes,
): void {
  const names = new Set<string>();
  const paths = new Set<string>();
  for (const [index, { name = "", devicePath = "" }] of (volumeDevices ?? []).entries()) {
    const path = `${at}[${index}]`;
    const volume = volumes.get(name);
    if (name === "") errors.push(field.required(`${path}.name`));
    if (names.has(name)) errors.push(field.invalid(`${path}.name`, name, "must be unique"));
    if (volume && !volume.persistentVolumeClaim && !volume.ephemeral)
      errors.push(
        field.invalid(
          `${path}.name`,
          name,
          "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode",
        ),
      );
    if (!volume) errors.push(field.notFound(`${path}.name`, name));
    if (devicePath === "") errors.push(field.required(`${path}.devicePath`));
    if (paths.has(devicePath)) errors.push(field.invalid(`${path}.devicePath`, devicePath, "must be unique"));
    if (devicePath.split("/").includes(".."))
      errors.push(field.invalid(`${path}.devicePath`, devicePath, "can not contain backsteps ('..')"));
    else paths.add(devicePath);
    if (volumeMounts.some((mount) => mount.name === name))
      errors.push(field.invalid(`${path}.name`, name, "must not already exist in volumeMounts"));
    if (volumeMounts.some((mount) => mount.mountPath === devicePath))
      errors.push(field.invalid(`${path}.devicePath`, devicePath, "must not already exist as a path in volumeMounts"));
    if (name !== "") names.add(name);
  }
}
