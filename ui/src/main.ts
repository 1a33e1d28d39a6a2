import { createApp } from 'vue'
import AppShell from './app-shell.vue'
import { router } from './router.ts'
import { startTheme } from './theme.ts'
import './style.css'

startTheme()
createApp(AppShell).use(router).mount('#app')
