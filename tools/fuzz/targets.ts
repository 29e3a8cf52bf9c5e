/** All fuzz targets, by name. */
import type { FuzzTarget } from "./target.ts";
import { luaDifferential } from "./targets/lua-differential.ts";
import { luaPrograms, luaScripts } from "./targets/lua.ts";
import { apply, fieldSets, jsonPatch, managedFields, mergePatch, strategicPatch } from "./targets/patches.ts";
import { pkiDifferential } from "./targets/pki.ts";
import {
  creates,
  definitions,
  largeBodies,
  lists,
  patches,
  protobuf,
  protobufRequests,
  roundTrips,
} from "./targets/requests.ts";
import { cel, celRules, structural } from "./targets/schemas.ts";
import {
  accept,
  fieldSelector,
  json,
  jsonPath,
  kubeconfig,
  labelSelector,
  paths,
  pattern,
  quantity,
  yaml,
} from "./targets/text-formats.ts";
import {
  certificateRequests,
  certificateSubjects,
  derValues,
  jwt,
  queryOptions,
  times,
  watchLines,
  webSocketFrames,
} from "./targets/wire.ts";

export const targets: readonly FuzzTarget[] = [
  json,
  yaml,
  protobuf,
  jsonPatch,
  mergePatch,
  strategicPatch,
  fieldSets,
  managedFields,
  apply,
  labelSelector,
  fieldSelector,
  quantity,
  jsonPath,
  pattern,
  cel,
  celRules,
  structural,
  accept,
  paths,
  queryOptions,
  times,
  jwt,
  certificateSubjects,
  derValues,
  certificateRequests,
  pkiDifferential,
  webSocketFrames,
  watchLines,
  kubeconfig,
  creates,
  definitions,
  roundTrips,
  patches,
  lists,
  protobufRequests,
  luaScripts,
  luaPrograms,
  luaDifferential,
  largeBodies,
];
