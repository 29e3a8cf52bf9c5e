export type { WorkOrigin } from "./applied-work.ts";
export { createWork, type WorkPart } from "./create-work.ts";
export type { MemberFor, WorkMember } from "./member-objects.ts";
export { createWorkTtlController } from "./ttl-controller.ts";
