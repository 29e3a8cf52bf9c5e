/**
 * Plugins for the kinds of `api/optional-kinds.ts`. Each names its API group, so a write of another group does not call
 * it.
 */
import type { Clock } from "../base/index.ts";
import { attributesClassProtection } from "./csi/class-protection.ts";
import { createDeviceClaims } from "./dra/device-claims.ts";
import type { Plugin } from "./plugin.ts";
import type { Authorizer } from "./request/authorize.ts";

export const createOptionalPlugins = (deps: { clock: Clock; authorizer: Authorizer }): readonly Plugin[] => [
  attributesClassProtection,
  createDeviceClaims(deps),
];
