/** Whether the hub rejected a write, which is reported, or the error is transient. */
import { isRejectedWrite, OwnedSetError } from "@flotilla/controller-runtime";

export const isRefusal = (error: unknown): boolean =>
  error instanceof OwnedSetError ? error.failed.some((write) => isRejectedWrite(write.error)) : isRejectedWrite(error);
