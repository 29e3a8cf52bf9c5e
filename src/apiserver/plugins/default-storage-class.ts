/** Storage: sets the default class of claims that name none, and checks which claims may be expanded. */
import { STORAGE_CLASS_ANNOTATION, isDefaultStorageClass } from "../../api/index.ts";
import type { KubernetesObject, PersistentVolumeClaim, StorageClass } from "../../api/index.ts";
import type { DeepReadonly, JsonObject } from "../../base/index.ts";
import { compareQuantities, forbidden, parseQuantity } from "../../machinery/index.ts";
import type { RequestContext } from "../context.ts";
import { writesKind } from "../plugin.ts";
import type { Plugin } from "../plugin.ts";
import { defaultClass } from "./default-class.ts";

const STORAGE = "storage.k8s.io";

const isClaim = (context: RequestContext): boolean => writesKind(context, "", "PersistentVolumeClaim");
const asClaim = (object: DeepReadonly<JsonObject>): DeepReadonly<PersistentVolumeClaim> =>
  object as unknown as DeepReadonly<PersistentVolumeClaim>;

export const defaultStorageClass: Plugin = {
  name: "DefaultStorageClass",
  group: "",
  concerns: (context, operation) => operation === "CREATE" && isClaim(context),
  mutate({ object, read }): DeepReadonly<JsonObject> {
    const { metadata, spec } = asClaim(object);
    if (spec?.storageClassName !== undefined || metadata.annotations?.[STORAGE_CLASS_ANNOTATION] !== undefined)
      return object;
    const isDefault = (annotations: Readonly<Record<string, unknown>>): boolean =>
      isDefaultStorageClass({ metadata: { annotations } as unknown as KubernetesObject["metadata"] });
    const name = defaultClass(read.list(STORAGE, "storageclasses"), isDefault);
    return name === undefined
      ? object
      : { ...object, spec: { ...(object.spec as JsonObject | undefined), storageClassName: name } };
  },
};

const classOf = ({ metadata, spec }: DeepReadonly<PersistentVolumeClaim>): string =>
  metadata.annotations?.[STORAGE_CLASS_ANNOTATION] ?? spec?.storageClassName ?? "";

export const claimResize: Plugin = {
  name: "PersistentVolumeClaimResize",
  group: "",
  concerns: (context, operation) => operation === "UPDATE" && isClaim(context),
  validate({ context, object, oldObject, read }) {
    const claim = asClaim(object);
    const old = asClaim(oldObject ?? object);
    const sizeOf = ({ spec }: DeepReadonly<PersistentVolumeClaim>) =>
      parseQuantity(spec?.resources?.requests?.["storage"] ?? "0");
    if (compareQuantities(sizeOf(claim), sizeOf(old)) <= 0) return;
    const refuse = (reason: string): Error => forbidden(context.served.resource.name, claim.metadata.name, reason);
    if (old.status?.phase !== "Bound") throw refuse("Only bound persistent volume claims can be expanded");
    const name = classOf(claim);
    const storageClass =
      name && name === classOf(old)
        ? (read.get(STORAGE, "storageclasses", undefined, name) as DeepReadonly<StorageClass> | undefined)
        : undefined;
    if (!storageClass?.allowVolumeExpansion)
      throw refuse(
        "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize",
      );
  },
};
