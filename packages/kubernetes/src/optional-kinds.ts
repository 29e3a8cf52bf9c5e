/**
 * Kubernetes kinds that belong to one cluster and that no policy propagates. Each group is a folder with its kinds,
 * their rules and its tests; the part that reads other objects is the folder of the same name in `apiserver`. A group is
 * removed by removing its line here and there.
 */
import type { AnyAdmission } from "@flotilla/apimachinery";
import { csiKinds } from "./csi/kinds.ts";
import { deviceKinds } from "./dra/kinds.ts";
import type { Kind } from "@flotilla/apimachinery";
import { serviceRangeKinds } from "./service-cidr/kinds.ts";

export interface KindGroup {
  readonly kinds: readonly Kind[];
  readonly admissions: readonly AnyAdmission[];
}

export const optionalKinds: readonly KindGroup[] = [serviceRangeKinds, csiKinds, deviceKinds];
