/** The addresses of the console. Each page is loaded when it is first opened. */
import { createRouter, createWebHistory } from 'vue-router'

export const router = createRouter({
  history: createWebHistory(),
  scrollBehavior: (_to, _from, saved) => saved ?? { top: 0 },
  routes: [
    { path: '/', redirect: '/runs' },
    { path: '/sign-in', component: () => import('./pages/missing-page.vue'), meta: { title: 'Sign in' } },
    { path: '/runs', component: () => import('./pages/runs-page.vue'), meta: { title: 'Runs' } },
    { path: '/runs/:runId', component: () => import('./pages/run-page.vue'), meta: { title: 'Run' } },
    {
      path: '/inbox/:requestId?',
      component: () => import('./pages/inbox-page.vue'),
      meta: { title: 'Inbox' },
    },
    { path: '/compose', component: () => import('./pages/compose-page.vue'), meta: { title: 'Compose' } },
    {
      path: '/flex/sandbox',
      component: () => import('./pages/compose-page.vue'),
      props: { isSandbox: true },
      meta: { title: 'Sandbox' },
    },
    {
      path: '/threads/:threadId?',
      component: () => import('./pages/threads-page.vue'),
      meta: { title: 'Threads' },
    },
    {
      path: '/capabilities',
      component: () => import('./pages/capabilities-page.vue'),
      meta: { title: 'Capabilities' },
    },
    { path: '/health', component: () => import('./pages/health-page.vue'), meta: { title: 'Health' } },
    { path: '/:rest(.*)', component: () => import('./pages/missing-page.vue'), meta: { title: 'Not found' } },
  ],
})
