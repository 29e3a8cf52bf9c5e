/** The binding that a plan computes. */
import type { ResourceBinding } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";

export type Binding = DeepReadonly<ResourceBinding>;
