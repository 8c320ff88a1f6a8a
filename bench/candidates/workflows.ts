import { proxyActivities } from '@temporalio/workflow';
import type * as functions from './functions.ts';

const { forward, shout, passOn } = proxyActivities<typeof functions>({ startToCloseTimeout: '1 minute' });

/** Runs the three functions, each as a regular activity. */
export async function threeActivities(message: string): Promise<string> {
  return passOn(await shout(await forward(message)));
}

/** Does nothing: the smallest possible execution. */
export async function empty(): Promise<string> {
  return '';
}
