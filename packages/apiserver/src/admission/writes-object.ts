import type { RequestInfo } from "@flotilla/apimachinery";

/** The condition of steps for requests that write a whole object, not one of its subresources. */
export const writesObject = ({ subresource }: RequestInfo): boolean => subresource === undefined;
