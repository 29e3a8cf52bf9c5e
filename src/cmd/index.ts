export * from "./hub.ts";
export { openOfflineHub } from "./offline-hub.ts";
