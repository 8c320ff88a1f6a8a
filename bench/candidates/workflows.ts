import { proxyActivities } from '@temporalio/workflow';
import type * as functions from './functions.ts';

const { forward, shout, passOn } = proxyActivities<typeof functions>({ startToCloseTimeout: '1 minute' });

/** The three functions, each as a regular activity. */
export async function threeActivities(message: string): Promise<string> {
  return passOn(await shout(await forward(message)));
}

/** The least that an execution can be. */
export async function empty(): Promise<string> {
  return '';
}
